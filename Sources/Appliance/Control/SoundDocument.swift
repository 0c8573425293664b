internal import API
internal import Media

/// The parts of the status that the media engine knows.
extension Appliance {
    var audioDocument: JSON {
        let settings = engine.settings
        return .members([
            "speaker": .string(settings.speaker.description), "microphone": .string(settings.microphone.description),
            "ringer": .string((settings.ringer ?? settings.speaker).description), "xruns": .integer(engine.xruns),
            "speaker-volume": .integer(sound.speakerVolume), "microphone-volume": .integer(sound.microphoneVolume),
            "ringer-volume": .integer(sound.ringerVolume ?? configuration.ringer.volume),
        ])
    }

    func rtpDocument(callNumber number: Int) -> JSON? {
        statistics(callNumber: number).map { statistics in
            .members([
                "sent": .integer(statistics.sent), "received": .integer(statistics.received),
                "lost": .integer(statistics.lost), "foreign": .integer(statistics.foreign),
                "jitter-ms": .number(rounded(statistics.jitter.inMilliseconds)),
                "rtt-ms": statistics.roundTrip.map { .number(rounded($0.inMilliseconds)) },
                "mos": statistics.meanOpinionScore.map { .number(rounded($0)) },
            ])
        }
    }

    private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
