import API
import EventLoop
import Exchange
import Primitives
import SIP

/// What the demo shows, in order.
extension Demo {
    func perform(stays: Bool) throws(Failure) {
        say("exchange at \(exchange.address), all on this machine; nothing else is needed")
        exchange.tell(.register)
        try observe("the kitchen's phone is registered", within: Self.patience) {
            !self.exchange.bindings(of: "kitchen").isEmpty
        }
        try registers(from: Self.addresses.first)
        try pause(.seconds(1))
        try bellRings()
        try soundFlows()
        try pause(.seconds(2))
        try phoneHangsUp()
        try pause(.seconds(1))
        try answersByItself()
        try soundFlows()
        try pause(.seconds(2))
        try phoneHangsUp()
        try pause(.seconds(1))
        try addressChanges()
        try pause(.seconds(1))
        if stays { try stay() }
        try stops()
        say("all \(steps) steps were observed")
    }

    private func registers(from address: IPAddress) throws(Failure) {
        for (account, user) in zip(["house", "garden"], Self.accounts) {
            try observe("account \(account) is registered from \(address)", within: Self.patience) {
                let bindings = self.exchange.bindings(of: user)
                return bindings.count == 1 && bindings[0].contact.uri.host?.address == address
                    && bindings[0].flow.remote.address == address
                    && self.status("accounts", named: account)?["state"]?.string == "registered"
            }
        }
        try light("registered")
    }

    private func bellRings() throws(Failure) {
        lightChanges = 0
        appliance.panel?.lines.simulation.set("bell", false)
        try observe("the bell is pressed", within: Self.patience) {
            self.saw("button", ["name": "bell", "action": "press"])
        }
        appliance.panel?.lines.simulation.set("bell", true)
        try observe("the phone rings, called by the front door", within: Self.patience) {
            self.phoneEvents.contains(.ringing(from: self.caller("frontdoor")))
        }
        try light("calling")
        try observe("the light blinks meanwhile", within: Self.patience) { self.lightChanges >= 4 }
        try observe("the phone answers", within: Self.ringing + Self.patience) { self.isTalking("outgoing") }
        try light("talking")
    }

    private func soundFlows() throws(Failure) {
        hearing = nil
        recording.listenAnew()
        try observe({ self.heardAtPhone }, within: Self.patience) {
            "the phone hears the door's microphone: \(Int(Self.doorTone)) Hz at \(Self.decibels($0)) dBFS"
        }
        try observe({ self.heardAtDoor }, within: Self.patience) {
            "the door's loudspeaker says the phone's voice: \(Int(Self.phoneTone)) Hz at \(Self.decibels($0)) dBFS"
        }
    }

    private func phoneHangsUp() throws(Failure) {
        phoneEvents = []
        exchange.tell(.hangUp)
        try observe("the phone hangs up, the call has ended", within: Self.patience) {
            self.status("calls").isEmpty && self.phoneEvents.contains(.ended(status: nil, byPeer: false))
        }
        try light("registered")
    }

    private func answersByItself() throws(Failure) {
        phoneEvents = []
        exchange.tell(
            .dial(exchange.uri("frontdoor"), headers: [.callInfo: "<sip:\(exchange.address)>;answer-after=0"]))
        try observe("the phone calls; the door answers by itself", within: Self.patience) {
            self.isTalking("incoming") && self.phoneEvents.contains { if case .answered = $0 { true } else { false } }
        }
        try light("talking")
    }

    private func addressChanges() throws(Failure) {
        say("  the address changes from \(Self.addresses.first) to \(Self.addresses.second)")
        address.change(to: Self.addresses.second)
        appliance.networkChanged()
        appliance.turn()
        try registers(from: Self.addresses.second)
    }

    private func stops() throws(Failure) {
        isLeaving = true
        appliance.stop()
        try finish()
        try observe("the appliance has stopped and taken its registrations away", within: Self.patience) {
            Self.accounts.allSatisfy { self.exchange.bindings(of: $0).isEmpty }
        }
        exchange.tell(.unregister)
        try observe("the phone's is gone too", within: Self.patience) {
            self.exchange.bindings(of: "kitchen").isEmpty
        }
    }
}
