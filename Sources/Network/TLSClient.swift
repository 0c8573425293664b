import COpenSSL
package import Primitives
package import SIP

/// The client's side of one TLS connection, without a socket: octets of the peer go in, octets for the peer come out.
///
/// Nothing of the client's is encrypted before the server has proved to be the one (SEC8): chain, dates, name and pin are
/// judged at the end of the handshake, before its last octets are handed out.
package final class TLSClient {
    /// Why there is no connection; words for the operator.
    package struct Failure: Error, Equatable {
        package var text: String
    }

    package enum Event: Equatable {
        /// The handshake is over and the server is the one.
        case secured(Report)
        /// What the server said.
        case received([UInt8])
        /// The server said that nothing follows.
        case ended
    }

    /// What came out of the handshake.
    package struct Report: Equatable, Sendable {
        /// What the server was asked for, or the first name that it may prove.
        package var name: String
        /// `TLSv1.3`
        package var version: String
        package var server: Certificate
        /// Our own and its file; nil: none was set.
        package var own: Certificate?
        package var ownFile: String?
    }

    /// What a certificate says.
    package struct Certificate: Equatable, Sendable {
        package var subject: String
        package var issuer: String
        package var notBefore: UTCTime
        package var notAfter: UTCTime
        /// SHA-256 of its SubjectPublicKeyInfo: what a pin names.
        package var keyDigest: [UInt8]
    }

    /// So much is taken from libssl at once.
    private static let blockSize = 16_384

    private let tls: OpaquePointer
    private let server: TLSServer
    /// The handshake is over.
    package private(set) var isSecured = false

    /// Loads libssl if nobody did, and what the settings name; says nothing yet.
    /// - Parameter time: stands in for a clock that is not set, where the settings say so.
    package init(to server: TLSServer, at time: UTCTime? = nil) throws(Failure) {
        var failure = [CChar](repeating: 0, count: 512)
        let settings = server.settings
        let time = settings.toleratesClock ? time.map { $0.milliseconds / 1000 } ?? 0 : 0
        var made: OpaquePointer?
        // The strings live while libssl copies them.
        withOptionalCString(settings.authorities) { authorities in
            withOptionalCString(settings.certificate) { certificate in
                withOptionalCString(settings.key) { key in
                    withOptionalCString(server.name) { name in
                        var native = portero_tls_settings(
                            authorities: authorities, verifies: settings.verifies ? 1 : 0, certificate: certificate,
                            key: key, server_name: name, time: time)
                        made = portero_tls_create(&native, &failure, failure.count)
                    }
                }
            }
        }
        guard let made else { throw Failure(text: Self.text(failure)) }
        tls = made
        self.server = server
    }

    deinit { portero_tls_destroy(tls) }

    /// Begins: `takeOutput` has something then.
    package func start() throws(Failure) { _ = try shakeHands() }

    /// Octets of the server, in any portion.
    package func receive(_ octets: [UInt8]) throws(Failure) -> [Event] {
        guard portero_tls_feed(tls, octets, octets.count) != 0 else { throw Failure(text: "out of memory") }
        var events: [Event] = []
        if !isSecured {
            guard let report = try shakeHands() else { return [] }
            events.append(.secured(report))
        }
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        var failure = [CChar](repeating: 0, count: 256)
        while true {
            let count = portero_tls_read(tls, &block, block.count, &failure, failure.count)
            switch count {
            case 0: return events
            case 1...: events.append(.received(Array(block.prefix(count))))
            case -1: return events + [.ended]
            default: throw Failure(text: Self.text(failure))
            }
        }
    }

    /// Encrypts octets for the server; `takeOutput` has them then. To be called only once it is secured.
    package func send(_ octets: [UInt8]) throws(Failure) {
        guard isSecured, portero_tls_write(tls, octets, octets.count) != 0 else {
            throw Failure(text: "what is to be sent cannot be encrypted")
        }
    }

    /// Says that nothing follows.
    package func end() { if isSecured { portero_tls_end(tls) } }

    /// What is to go to the server now.
    package func takeOutput() -> [UInt8] {
        var octets: [UInt8] = []
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        while true {
            let count = portero_tls_take(tls, &block, block.count)
            if count <= 0 { return octets }
            octets += block.prefix(count)
        }
    }

    // MARK: Trust

    /// Nil: more octets are needed.
    private func shakeHands() throws(Failure) -> Report? {
        var failure = [CChar](repeating: 0, count: 512)
        switch portero_tls_shake_hands(tls, &failure, failure.count) {
        case PORTERO_TLS_WAITS: return nil
        case PORTERO_TLS_DONE: break
        default:
            if let reason = portero_tls_chain_failure(tls) { throw refusal(String(cString: reason)) }
            throw Failure(text: Self.text(failure))
        }
        guard let certificate = certificate(portero_tls_certificate) else {
            throw Failure(text: "the server has no certificate")
        }
        do throws(Failure) {
            try judge(certificate)
        } catch {
            // The end of the handshake is not for whoever this is.
            _ = takeOutput()
            throw error
        }
        isSecured = true
        return Report(
            name: server.name ?? server.names.first ?? "",
            version: portero_tls_version(tls).map { String(cString: $0) } ?? "", server: certificate,
            own: self.certificate(portero_tls_own_certificate), ownFile: server.settings.certificate)
    }

    private func judge(_ certificate: Certificate) throws(Failure) {
        let settings = server.settings
        if settings.verifies {
            if let reason = portero_tls_chain_failure(tls) { throw refusal(String(cString: reason)) }
            let names = names
            if !server.isNamed(in: names) {
                let found = names.domains + names.addresses.map(\.description)
                let list = found.isEmpty ? "no name" : found.prefix(4).joined(separator: ", ")
                throw refusal("it is for \(list), not for \(server.names.joined(separator: " or "))")
            }
        }
        if !settings.pins.isEmpty, !settings.pins.contains(certificate.keyDigest) {
            throw refusal("its key is not tls-pin's but \(base64(certificate.keyDigest))")
        }
    }

    /// Why the server's certificate is not taken, with what tells it from others (name, issuer, dates).
    private func refusal(_ reason: String) -> Failure {
        guard let it = certificate(portero_tls_certificate) else { return Failure(text: reason) }
        return Failure(
            text: "certificate refused: \(reason) (\(it.subject), issued by \(it.issuer), valid from "
                + "\(it.notBefore.day) to \(it.notAfter.day))")
    }

    private func certificate(
        _ read: (OpaquePointer?, UnsafeMutablePointer<portero_certificate>?) -> Int32
    ) -> Certificate? {
        var native = portero_certificate()
        guard read(tls, &native) != 0 else { return nil }
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return Certificate(
            subject: text(native.subject), issuer: text(native.issuer),
            notBefore: UTCTime(milliseconds: native.not_before &* 1000),
            notAfter: UTCTime(milliseconds: native.not_after &* 1000),
            keyDigest: withUnsafeBytes(of: native.key_digest) { Array($0) })
    }

    private var names: CertificateNames {
        final class Box { var names = CertificateNames() }
        let box = Box()
        portero_tls_names(
            tls,
            { context, kind, octets, count in
                guard let context else { return }
                let box = Unmanaged<Box>.fromOpaque(context).takeUnretainedValue()
                let octets = Array(UnsafeBufferPointer(start: octets, count: Int(max(0, count))))
                switch kind {
                case PORTERO_NAME_DNS: box.names.add(dns: String(decoding: octets, as: UTF8.self))
                case PORTERO_NAME_URI: box.names.add(uri: String(decoding: octets, as: UTF8.self))
                default: box.names.add(address: octets)
                }
            }, Unmanaged.passUnretained(box).toOpaque())
        return withExtendedLifetime(box) { box.names }
    }

    private static func text(_ octets: [CChar]) -> String {
        String(decoding: octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

private func withOptionalCString(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Void) {
    if let text { text.withCString { body($0) } } else { body(nil) }
}

extension UTCTime {
    /// `2026-01-01`
    fileprivate var day: String { String(description.prefix(10)) }
}
