import type { Evm, EvmSession, InterruptCheck, StateView } from '#evm/ports'
import { createTraceableEvm } from '#evm/traceableEvm'
import type { TracedEnd, TracedTransaction, Tracer } from '#evm/traceEvents'
import { createTracer } from '#evm/tracing'
import type { TracedEvm } from '#evm/wasmEvm'
import { Fault } from '#lib/fault'
import type { RunTimer } from '#rpc/callPorts'
import type { Json } from '#rpc/json'
import type { TraceOutcome, TraceRequest } from '#rpc/tracePorts'
import { createValueReads } from '#state/worldReads'
import { OutOfTime } from '../call/callTimer.ts'
import type { SimulationDeps } from '../simulationDeps.ts'

/** Wraps an interpreter: messages run with an interrupt check, and sessions stay open when they are disposed. `opened` receives each session. */
function kept(evm: Evm, interruptCheck: () => InterruptCheck, opened: (session: EvmSession) => void): Evm {
  return {
    open(view, block, rules): EvmSession {
      const session = evm.open(view, block, rules)
      opened(session)
      return {
        account: (address) => session.account(address),
        slot: (address, slot) => session.slot(address, slot),
        code: (address) => session.code(address),
        addBalance: (address, wei) => session.addBalance(address, wei),
        subtractBalance: (address, wei) => session.subtractBalance(address, wei),
        setNonce: (address, nonce) => session.setNonce(address, nonce),
        setCode: (address, code) => session.setCode(address, code),
        setSlot: (address, slot, value) => session.setSlot(address, slot, value),
        checkpoint: () => session.checkpoint(),
        revertTo: (checkpoint) => session.revertTo(checkpoint),
        beginTransaction: (env) => session.beginTransaction(env),
        run: (message) => session.run(message, interruptCheck()),
        resume: () => session.resume(),
        endTransaction: () => session.endTransaction(),
        diff: () => session.diff(),
        changed: () => session.changed(),
        readKeys: () => session.readKeys(),
        [Symbol.dispose](): void {},
      }
    },
  }
}

/** Work whose last transaction is traced. */
export type TracedWork = {
  readonly facts: TracedTransaction
  /** state before the transaction */
  readonly before: StateView
  /**
   * Runs the work.
   * @param listen called once, when the transaction begins
   * @returns how the transaction ended, or why it could not begin
   */
  run(evm: Evm, listen: () => void): TracedEnd | { readonly refused: TraceOutcome }
  /** Called with the session after the work. The session is closed afterwards. */
  after?(session: EvmSession): void
}

/** Returns the outcome that a tracer's fault means for the caller; undefined for other errors. */
function outcomeOfFault(error: unknown): TraceOutcome | undefined {
  if (error instanceof OutOfTime) return { kind: 'timeout', timeoutMs: error.timeoutMs }
  if (!(error instanceof Fault)) return undefined
  if (error.code === 'UNSUPPORTED') return { kind: 'unsupported', reason: error.message }
  if (error.code === 'INVALID_TRACER_CONFIG') return { kind: 'bad-request', reason: error.message }
  return error.code === 'TRACE_TOO_LARGE' || error.code === 'EVM_TOO_LARGE' ? { kind: 'refused', reason: error.message } : undefined
}

/** Runs work with the tracer that a request names. */
export function runTraced(
  { traced, maxTraceBytes }: Pick<SimulationDeps, 'traced' | 'maxTraceBytes'>,
  request: TraceRequest,
  timer: RunTimer,
  work: TracedWork,
): TraceOutcome {
  const sessions: EvmSession[] = []
  try {
    return traceWith(createTracer(request, maxTraceBytes), traced, timer, work, sessions)
  } catch (error) {
    const outcome = outcomeOfFault(error)
    if (outcome === undefined) throw error
    return outcome
  } finally {
    for (const session of sessions) session[Symbol.dispose]()
  }
}

function traceWith(tracer: Tracer, traced: TracedEvm, timer: RunTimer, work: TracedWork, sessions: EvmSession[]): TraceOutcome {
  const { evm, listen } = createTraceableEvm(traced)
  const open = kept(evm, timer, (session) => sessions.push(session))
  tracer.begin(work.facts)
  const end = work.run(open, () => listen(tracer))
  listen(undefined)
  if ('refused' in end) return end.refused
  const session = sessions.at(-1)
  if (session === undefined) throw new RangeError('no session was opened')
  tracer.end(end, createValueReads(work.before), session)
  work.after?.(session)
  return { kind: 'traced', result: tracer.result() as Json }
}
