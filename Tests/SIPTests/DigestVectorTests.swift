import Foundation
import Primitives
import SIP
import Simulation
import Testing

/// Responses computed for published and composed inputs.
@Suite struct DigestVectorTests {
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        struct Input: Decodable, Sendable {
            var algorithm: String?
            var username: String
            var realm: String
            var password: String
            var method: String
            var uri: String
            var nonce: String
            var nc: String?
            var cnonce: String?
            var qop: String?
            var body: String?
        }

        let id: String
        let input: Input
        let ha1: String
        let response: String

        var description: String { id }
    }

    struct Challenge: Decodable, Sendable, CustomStringConvertible {
        let id: String
        let headers: [String]
        let expect: [String: JSONValue]

        var description: String { id }
    }

    struct Index: Decodable {
        let vectors: [Vector]
        let challenges: [Challenge]
    }

    static let index: Index = {
        do {
            let file = CaseFolder.own.appending(path: "digest/index.json")
            return try JSONDecoder().decode(Index.self, from: Data(contentsOf: file))
        } catch {
            fatalError("digest/index.json: \(error)")
        }
    }()

    @Test(arguments: index.vectors)
    func computes(_ vector: Vector) throws {
        let input = vector.input
        let algorithm = try #require(DigestAlgorithm(input.algorithm ?? "MD5"))
        let protection = try input.qop.map { try #require(DigestProtection(rawValue: $0)) }
        let challenge = DigestChallenge(
            realm: input.realm, nonce: input.nonce, algorithm: algorithm, protection: protection)
        let ha1 = DigestCredentials.ha1(
            username: input.username, realm: input.realm, password: input.password, algorithm.hash, .forTests)
        if !algorithm.isSession { #expect(ha1 == vector.ha1) }
        let count = try #require(UInt32(input.nc ?? "0", radix: 16))
        let body = Array((input.body ?? "").utf8)
        let credentials = DigestCredentials(
            challenge, username: input.username, ha1: ha1, method: SIPMethod(input.method), uri: input.uri, body: body,
            cnonce: input.cnonce ?? "", nonceCount: count, hashes: .forTests)
        #expect(credentials.response == vector.response)

        // As a server reads it.
        let read = try #require(DigestCredentials(credentials.description))
        #expect(read.username == input.username)
        #expect(read.isValid(ha1: ha1, method: SIPMethod(input.method), body: body, hashes: .forTests))
        #expect(!read.isValid(ha1: ha1, method: SIPMethod("OTHER"), body: body, hashes: .forTests))
        if let count = input.nc { #expect(credentials.description.contains("nc=\(count)")) }
        if let qop = input.qop { #expect(credentials.description.contains("qop=\(qop)")) }
        #expect(credentials.description.contains("qop") == (input.qop != nil))
    }
}
