import Hashing
import Primitives
import Testing

@Suite struct HashesTests {
    private let hashes = Hashes.nettle
    private let abc = Array("abc".utf8)

    /// "abc": RFC 1321 appendix A.5, FIPS 180-4 examples.
    @Test func digests() {
        #expect(hexadecimal(hashes.md5(abc)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(hexadecimal(hashes.md5([])) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hexadecimal(hashes.sha1(abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hexadecimal(hashes.sha256(abc)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hexadecimal(hashes.sha512_256(abc)) == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }

    /// RFC 2202 case 2, RFC 4231 case 2.
    @Test func codes() {
        let key = Array("Jefe".utf8)
        let text = Array("what do ya want for nothing?".utf8)
        #expect(hexadecimal(hashes.hmacSHA1(key, text)) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(
            hexadecimal(hashes.hmacSHA256(key, text))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
