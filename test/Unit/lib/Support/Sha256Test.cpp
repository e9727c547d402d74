//===- Sha256Test.cpp - the vectors of FIPS 180-4 --------------------------===//
#include "lib/Support/Sha256.h"

#include <gtest/gtest.h>

using namespace lacuna;

TEST(Sha256, matchesTheStandardsVectors) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                   "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
                .hex(),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  for (bool portable : {false, true})
    EXPECT_EQ(Sha256(portable).update(std::string(1000000, 'a')).finish().hex(),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length up to three blocks, in one piece and byte by byte, and without the processor's
// instructions.
TEST(Sha256, doesNotDependOnPieces) {
  std::string text;
  for (int length = 0; length < 192; ++length) {
    Sha256 bytewise;
    for (char byte : text)
      bytewise.update({&byte, 1});
    EXPECT_EQ(bytewise.finish(), sha256(text)) << length;
    EXPECT_EQ(Sha256(/*portable=*/true).update(text).finish(), sha256(text)) << length;
    text += static_cast<char>('a' + length % 26);
  }
}

TEST(Digest, readsWhatItWrites) {
  Digest digest = sha256("abc");
  EXPECT_EQ(Digest::parse(digest.hex()), digest);
  EXPECT_FALSE(Digest::parse(digest.hex().substr(1)));
  EXPECT_FALSE(Digest::parse(std::string(64, 'A')));
  EXPECT_FALSE(Digest::parse(std::string(63, '0') + "g"));
}

// Moving a letter from one field to the next, or to the name, is another list of fields.
TEST(FieldDigest, keepsFieldsApart) {
  auto of = [](std::string_view a, std::string_view b, std::string_view c) {
    return FieldDigest().field(a, b).field("end", c).finish();
  };
  Digest digest = of("name", "value", "rest");
  EXPECT_EQ(of("name", "value", "rest"), digest);
  EXPECT_NE(of("namev", "alue", "rest"), digest);
  EXPECT_NE(of("name", "valuer", "est"), digest);
  EXPECT_NE(FieldDigest().field("name", 1).finish(), FieldDigest().field("name", 2).finish());
}
