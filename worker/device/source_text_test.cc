// A candidate's text as its reader sees it, and what is refused because a compiler could see
// another.
#include "worker/device/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string WhyRejected(std::string_view text) {
  const auto result = StripText(text);
  const auto* rejected = std::get_if<Rejected>(&result);
  return rejected == nullptr ? "" : rejected->why;
}

std::string Code(std::string_view text) {
  const auto result = StripText(text);
  const auto* stripped = std::get_if<StrippedText>(&result);
  return stripped == nullptr ? "rejected: " + WhyRejected(text) : stripped->code;
}

// Each of these opened a comment for this reader alone: a compiler went on to the #include.
TEST(SourceText, NoDirectiveHidesInACommentThatACompilerDoesNotSee) {
  const std::string include = "\n#include \"/etc/passwd\"\n/* */\n";
  for (const char* head :
       {"const char* s = \"a\\ \n\" \"/*\";",     // g++ joins the lines in spite of the space
        "const char* s = \"a\\\t\r\n\" \"/*\";",  //
        "#define J 1'g'/*'",                      // a number takes in every quote within it
        "#define J 1.e'g'/*'",                    //
        "#define J .5'g'/*'",                     //
        "#define J 0x1p+'g'/*'",                  //
        "#define J 1$'g'/*'",                     // and what may stand in a name
        "#define J 1\\u00e9'g'/*'",               //
        "#define J 1\xc3\xa9'g'/*'"})
    EXPECT_NE(WhyRejected(head + include), "") << head;
}

TEST(SourceText, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(WhyRejected("int a;\n#define F(x) \\ \n  x\n"),
              StartsWith("line 2: spaces between a backslash"));
  EXPECT_THAT(WhyRejected("int a;\n\nint b = 1'x';\n"), StartsWith("line 3: a quote in a number"));
  EXPECT_THAT(WhyRejected("int caf\xc3\xa9;"), HasSubstr("beyond ASCII"));
  EXPECT_THAT(WhyRejected("int $a;"), HasSubstr("dollar"));
}

TEST(SourceText, CommentsAndLiteralsMayHoldAnything) {
  EXPECT_EQ(Code("int a; // caf\xc3\xa9 $ \\n 1'g'\nint b;"), "int a; \nint b;");
  EXPECT_EQ(Code("f(\"%0 $ \\t \xc3\xa9 1'g' /* \");"), "f(\"\");");
  EXPECT_EQ(Code("char c = '\\'', d = '\"', e = u8'a';"), "char c = '', d = '', e = u8'';");
}

TEST(SourceText, NumbersKeepTheirShapes) {
  for (const char* text :
       {"1 + 2", ".5f + 1.e-3f", "0x1.8p+3", "0xe+1", "a.b.c", "x1(2).y", "1..2"})
    EXPECT_EQ(Code(text), text);
  EXPECT_EQ(Code("1'000'000 + 0xff'ff"), "1 000 000 + 0xff ff");
}

TEST(SourceText, LinesThatABackslashJoinsAreOne) {
  EXPECT_EQ(Code("#define F(x) \\\n  x\nint a;"), "#define F(x)   x\nint a;");
  EXPECT_EQ(Code("#define F(x) \\\r\n  x"), "#define F(x)   x");
}

}  // namespace
}  // namespace warpsmith
