internal import API
internal import EventLoop
internal import Intercom
internal import Network
internal import Primitives
internal import UserAgent

/// The status document (INTERFACE section 4).
extension Appliance {
    var statusDocument: JSON {
        let now = loop.now
        return .members([
            "device": device(now),
            "network": .members([
                "state": .string(networkWord), "addresses": .array(addressTexts.map { .string($0) }),
                "changes": .integer(monitor?.changes ?? 0),
            ]),
            "accounts": .array(agent.accountStatuses.map { account($0, now) }),
            "calls": .array(callRecords.sorted { $0.key < $1.key }.compactMap { call($0.key, $0.value, now) }),
            "buttons": .array(
                intercom.buttonStatuses.map { button in
                    .members([
                        "name": .string(button.name), "line": .string(button.line.description),
                        "pressed": .bool(button.pressed),
                    ])
                }),
            "leds": .array(
                intercom.lightStatuses.map { light in
                    .members([
                        "name": .string(light.name), "line": .string(light.line.description),
                        "watch": light.watch.map { .string($0.description) },
                        "state": .string(light.state?.rawValue ?? "off"), "lit": .bool(light.lit),
                    ])
                }),
            "doors": .array(
                intercom.doorStatuses.map { door in
                    .members([
                        "name": .string(door.name), "state": door.state.map { .string($0.rawValue) },
                        "relay": .bool(door.relay), "opener": door.opener.map { .bool($0) },
                        "tamper": door.tamper.map { .bool($0) },
                    ])
                }),
            "clock": clockDocument,
            "schedules": .array(
                intercom.scheduleStatuses.map { .members(["name": .string($0.name), "holds": .bool($0.holds)]) }),
            "codes": .array(
                intercom.codeStatuses.map { code in
                    .members([
                        "name": .string(code.name), "door": .string(code.door),
                        "uses-left": code.usesLeft.map { .integer($0) },
                    ])
                }),
            "audio": audioDocument,
            "faults": .array(
                faults.faults.map { fault in
                    .members([
                        "what": .string(fault.what), "message": .string(fault.message),
                        "since": .string(fault.since.description),
                    ])
                }),
        ])
    }

    private func device(_ now: Instant) -> JSON {
        .members([
            "name": .string(configuration.device.name ?? "Portero"), "version": .string(Version.number),
            "uptime": seconds(now - startedAt),
            "configuration": .members([
                "file": .string(source.path), "state": .string(configurationState.rawValue),
            ]),
        ])
    }

    private func account(_ status: AccountStatus, _ now: Instant) -> JSON {
        .members([
            "name": .string(status.name), "uri": .string(status.uri), "state": .string(status.state.rawValue),
            "expires-in": status.expiresAt.map { seconds(max(.zero, $0 - now)) },
            "contact": status.contact.map { .string($0) }, "transport": status.transport.map { .string($0.rawValue) },
            "registrar": status.registrar.map { .string($0.description) }, "code": status.code.map { .integer($0) },
            "reason": status.reason.map { .string($0) }, "since": .string(wall(status.since, now)),
            "next-attempt-in": status.nextAttempt.map { seconds(max(.zero, $0 - now)) },
        ])
    }

    private func call(_ key: CallKey, _ record: CallRecord, _ now: Instant) -> JSON? {
        guard let status = record.status else { return nil }
        return .members([
            "id": .string(key.description), "direction": .string(status.direction.rawValue),
            "state": .string(status.state.rawValue), "account": .string(status.account),
            "group": intercom.group(of: key).map { .string($0) },
            "remote": .string(status.remote.addressOfRecord.description),
            "remote-name": .string(status.remoteName.isEmpty ? record.name : status.remoteName),
            "codec": status.plan.map { .string($0.codec.name.lowercased()) }, "srtp": .string("off"),
            "hold": .string(status.hold.rawValue), "muted": .bool(intercom.isMuted(key)),
            "since": .string(wall(status.since, now)), "duration": status.answeredAt.map { seconds(now - $0) },
            "code": status.code.map { .integer($0) }, "reason": status.reason.map { .string($0) },
            "cause": status.cause.map { .string($0) }, "rtp": rtpDocument(callNumber: key.number),
        ])
    }

    private func wall(_ instant: Instant, _ now: Instant) -> String {
        UTCTime(milliseconds: loop.wallClock.milliseconds &- (now - instant).nanoseconds / 1_000_000).description
    }

    /// Seconds with the milliseconds that matter.
    private func seconds(_ duration: Duration) -> JSON { .number((duration.inSeconds * 1000).rounded() / 1000) }
}
