// Device code of worker/cuda/cuda_runner_device.h.

// Fills the shared memory of every SM, as much as one block can have, so that what a candidate
// forgets to write there is never zero: the words are NaN as floats and absurd as whole numbers.
extern "C" __global__ void warpsmith_dirty_shared(unsigned int bytes, unsigned int pattern) {
  extern __shared__ unsigned int shared[];
  for (unsigned int i = threadIdx.x; i < bytes / 4; i += blockDim.x) shared[i] = pattern;
  __syncthreads();
  // Reads it back in a way that the compiler cannot drop.
  volatile unsigned int* kept = shared;
  if (kept[threadIdx.x % (bytes / 4)] != pattern) __trap();
}
