import type { Address, Hash } from '#types/ids'
import type { Evm, EvmSession } from './ports.ts'
import type { FrameEnd, FrameStart, TraceListener, TraceLog, TraceNeeds, TraceStep } from './traceEvents.ts'
import { noEvents } from './tracers/noEvents.ts'
import type { TracedEvm } from './wasmEvm.ts'

const nothing: TraceListener = { ...noEvents, needs: { frames: false, logs: false, accounts: false, steps: undefined } }

/** A listener that forwards to a replaceable listener, or to none. */
class Switch implements TraceListener {
  #listener: TraceListener = nothing

  listen(listener: TraceListener | undefined): void {
    this.#listener = listener ?? nothing
  }

  get needs(): TraceNeeds {
    return this.#listener.needs
  }

  onEnter(frame: FrameStart): void {
    this.#listener.onEnter(frame)
  }

  onLeave(end: FrameEnd): void {
    this.#listener.onLeave(end)
  }

  onStep(step: TraceStep): void {
    this.#listener.onStep(step)
  }

  onLog(log: TraceLog): void {
    this.#listener.onLog(log)
  }

  onAccount(address: Address): void {
    this.#listener.onAccount(address)
  }

  onNativeAccess(address: Address, slot: Hash | undefined): void {
    this.#listener.onNativeAccess(address, slot)
  }
}

/** Wraps a session so that accounts changed by its caller are reported. */
function watched(session: EvmSession, listener: TraceListener): EvmSession {
  const touch = (address: Address): Address => {
    listener.onAccount(address)
    return address
  }
  return {
    account: (address) => session.account(address),
    slot: (address, slot) => session.slot(address, slot),
    code: (address) => session.code(address),
    addBalance: (address, wei) => session.addBalance(touch(address), wei),
    subtractBalance: (address, wei) => session.subtractBalance(touch(address), wei),
    setNonce: (address, nonce) => session.setNonce(touch(address), nonce),
    setCode: (address, code) => session.setCode(touch(address), code),
    setSlot: (address, slot, value) => session.setSlot(touch(address), slot, value),
    checkpoint: () => session.checkpoint(),
    revertTo: (checkpoint) => session.revertTo(checkpoint),
    beginTransaction: (env) => session.beginTransaction(env),
    run: (message, interruptCheck) => session.run(message, interruptCheck),
    resume: () => session.resume(),
    endTransaction: () => session.endTransaction(),
    diff: () => session.diff(),
    changed: () => session.changed(),
    readKeys: () => session.readKeys(),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  }
}

/** An `Evm` for block execution, with a switch that attaches a listener to a transaction. */
export type TraceableEvm = {
  readonly evm: Evm
  /** Attaches a listener to all sessions, from the next change on; undefined detaches it. Call between transactions. */
  listen(listener: TraceListener | undefined): void
}

/**
 * Makes the traced build usable for block execution. Without a listener, sessions emit no events and cost little more. A tracer should listen to its
 * whole transaction, fees included; the caller of `listen` also calls the tracer's `begin` and `end`.
 */
export function createTraceableEvm(traced: TracedEvm): TraceableEvm {
  const listener = new Switch()
  return {
    evm: { open: (view, block, rules) => watched(traced.open(view, block, rules, listener), listener) },
    listen: (next) => listener.listen(next),
  }
}
