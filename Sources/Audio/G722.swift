import CSpandsp

/// Encodes 16 kHz mono as G.722 at 64 kbit/s. Used by one thread; it allocates only when made.
package final class G722Encoder {
    private let state: UnsafeMutableRawPointer

    package init() throws(AudioError) {
        guard let state = portero_g722_encoder() else { throw .library("no G.722 encoder") }
        self.state = state
    }

    deinit { portero_g722_encoder_free(state) }

    /// Two samples become one octet.
    /// - Returns: octets written; 0 if they do not fit.
    package func encode(_ samples: UnsafeBufferPointer<Int16>, into octets: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let source = samples.baseAddress, let target = octets.baseAddress, octets.count >= samples.count / 2
        else { return 0 }
        return Int(portero_g722_encode(state, target, source, Int32(clamping: samples.count & ~1)))
    }
}

/// Decodes G.722 at 64 kbit/s to 16 kHz mono. Used by one thread; it allocates only when made.
package final class G722Decoder {
    private let state: UnsafeMutableRawPointer

    package init() throws(AudioError) {
        guard let state = portero_g722_decoder() else { throw .library("no G.722 decoder") }
        self.state = state
    }

    deinit { portero_g722_decoder_free(state) }

    /// One octet becomes two samples; octets that do not fit are left out.
    /// - Returns: samples made.
    package func decode(_ octets: UnsafeBufferPointer<UInt8>, into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        guard let source = octets.baseAddress, let target = samples.baseAddress else { return 0 }
        return Int(portero_g722_decode(state, target, source, Int32(clamping: min(octets.count, samples.count / 2))))
    }
}
