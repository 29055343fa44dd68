import type { Address } from '#types/ids'
import type { Evm, EvmSession } from './ports.ts'
import type { FrameEnd, FrameStart, TraceListener, TraceLog, TraceNeeds, TraceStep } from './traceEvents.ts'
import { noEvents } from './tracers/noEvents.ts'
import type { TracedEvm } from './wasmEvm.ts'

const nothing: TraceListener = { ...noEvents, needs: { frames: false, logs: false, accounts: false, steps: undefined } }

/** A listener in the place of another, or of none. */
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
}

/** The same session, telling the accounts that its caller changes. */
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
    checkpoint: () => session.checkpoint(),
    revertTo: (checkpoint) => session.revertTo(checkpoint),
    beginTransaction: (env) => session.beginTransaction(env),
    run: (message, pace) => session.run(message, pace),
    resume: () => session.resume(),
    endTransaction: () => session.endTransaction(),
    diff: () => session.diff(),
    changed: () => session.changed(),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  }
}

/** An `Evm` for whoever runs blocks, and the switch by which one of their transactions is listened to. */
export type TraceableEvm = {
  readonly evm: Evm
  /** From the next change on, to this one in all sessions; undefined: to nobody. Between transactions. */
  listen(listener: TraceListener | undefined): void
}

/**
 * Makes the traced build usable where blocks are run: sessions tell nothing until somebody listens, and cost little then. A tracer is to listen to
 * its transaction as a whole, fees included; to begin and end it is its owner's business.
 */
export function createTraceableEvm(traced: TracedEvm): TraceableEvm {
  const listener = new Switch()
  return {
    evm: { open: (view, block, rules) => watched(traced.open(view, block, rules, listener), listener) },
    listen: (next) => listener.listen(next),
  }
}
