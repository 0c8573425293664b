import COpus

/// Encodes mono speech as Opus (RFC 6716). Used by one thread; it allocates only when made.
package final class OpusVoiceEncoder {
    private let state: OpaquePointer

    /// - Parameters:
    ///   - rateHertz: 8000, 12 000, 16 000, 24 000 or 48 000.
    ///   - bitRate: bits in a second.
    ///   - complexity: 0…10.
    ///   - errorCorrection: carry a coarse copy of each packet in the next.
    ///   - discontinuous: leave silence out.
    package init(
        rateHertz: Int, bitRate: Int, complexity: Int, errorCorrection: Bool, discontinuous: Bool
    ) throws(AudioError) {
        var error: Int32 = 0
        guard let state = opus_encoder_create(Int32(clamping: rateHertz), 1, OPUS_APPLICATION_VOIP, &error) else {
            throw .library("no Opus encoder: \(String(cString: opus_strerror(error)))")
        }
        self.state = state
        // Refused values leave the library's own: the call is worth more.
        _ = portero_opus_set_bitrate(state, Int32(clamping: bitRate))
        _ = portero_opus_set_complexity(state, Int32(clamping: complexity))
        _ = portero_opus_set_fec(state, errorCorrection ? 1 : 0)
        _ = portero_opus_set_loss(state, errorCorrection ? Self.expectedLoss : 0)
        _ = portero_opus_set_dtx(state, discontinuous ? 1 : 0)
    }

    /// Per cent; without an expectation the library spends nothing on error correction.
    private static let expectedLoss: Int32 = 5

    deinit { opus_encoder_destroy(state) }

    /// Tells the encoder what the peer reports, so that it spends bits on error correction as needed.
    package func expect(lossPercent: Int) { _ = portero_opus_set_loss(state, Int32(clamping: lossPercent)) }

    /// Encodes one packet of 10, 20, 40 or 60 ms.
    /// - Returns: octets written; 0 if nothing is to be sent (silence) or the length is none of these.
    package func encode(_ samples: UnsafeBufferPointer<Int16>, into octets: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let source = samples.baseAddress, let target = octets.baseAddress else { return 0 }
        let count = opus_encode(
            state, source, Int32(clamping: samples.count), target, opus_int32(clamping: octets.count))
        // One octet alone says "nothing changed" and need not be sent (DTX).
        return count > 1 ? Int(count) : 0
    }
}

/// Decodes Opus to mono. Used by one thread; it allocates only when made.
package final class OpusVoiceDecoder {
    private let state: OpaquePointer

    /// - Parameter rateHertz: 8000, 12 000, 16 000, 24 000 or 48 000, whatever the sender used.
    package init(rateHertz: Int) throws(AudioError) {
        var error: Int32 = 0
        guard let state = opus_decoder_create(Int32(clamping: rateHertz), 1, &error) else {
            throw .library("no Opus decoder: \(String(cString: opus_strerror(error)))")
        }
        self.state = state
    }

    deinit { opus_decoder_destroy(state) }

    /// - Returns: samples made, at most 120 ms; 0 for a malformed packet.
    package func decode(_ octets: UnsafeBufferPointer<UInt8>, into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        guard let source = octets.baseAddress, let target = samples.baseAddress, !octets.isEmpty else { return 0 }
        return Int(
            max(
                0,
                opus_decode(
                    state, source, opus_int32(clamping: octets.count), target, Int32(clamping: samples.count), 0)))
    }

    /// Fills `samples` (a multiple of 2.5 ms) for a lost packet, from the copy in the packet after it if that is given and holds
    /// one, else by continuing what was heard.
    /// - Returns: samples made.
    package func conceal(
        following octets: UnsafeBufferPointer<UInt8>, into samples: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        guard let target = samples.baseAddress else { return 0 }
        let count = Int32(clamping: samples.count)
        if let source = octets.baseAddress, !octets.isEmpty {
            let made = opus_decode(state, source, opus_int32(clamping: octets.count), target, count, 1)
            if made > 0 { return Int(made) }
        }
        return Int(max(0, opus_decode(state, nil, 0, target, count, 0)))
    }
}
