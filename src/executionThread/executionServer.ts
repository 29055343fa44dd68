import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { SendersAhead } from '#block/execution/senders'
import type { BuildResult, Engine, InsertResult } from '#engine/port'
import type { WantedState } from '#evm/ports'
import { transferError } from '#lib/errorTransfer'
import type { FetchedState } from '#state/fetchedState'
import type { BlockId } from '#types/blockRef'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { WorkerOutbox } from './outbox.ts'
import { sendersIn } from './senderTable.ts'
import { packPayload, unpack } from './wire/packedBlocks.ts'
import { answerPending, type PendingWithSenders } from './wire/pendingCalls.ts'
import type {
  EngineAnswers,
  EngineCall,
  EnterCall,
  FetchedAnswer,
  FromReader,
  PendingCall,
  PoolCall,
  ReaderSettings,
  StateCall,
  ToWorker,
  WorkerAnswers,
  WorkerCall,
} from './wire/protocol.ts'
import { answerPool, type ServedPool } from './wire/txPoolCalls.ts'

/** An engine that takes senders which other threads recover. */
export type EngineWithSenders = Engine & {
  insert(payload: Payload, ahead?: SendersAhead): Promise<InsertResult>
  build(
    parent: BlockId,
    attributes: PayloadAttributes,
    seal?: AbortSignal,
    onForcedExecuted?: () => void,
    ahead?: SendersAhead,
  ): Promise<BuildResult>
}

/** Engine, pool and pending blocks that the execution thread serves. */
export type Served = ServedPool & {
  readonly engine: EngineWithSenders
  readonly pending: PendingWithSenders
  /** Called before each call of the engine is answered. */
  readonly onEngineCall?: () => void
  /** Fetches and stores a part that a partial state lacks. */
  readonly complete: (wanted: WantedState, withinMs: number) => Promise<void>
  /** Stores parts of a partial state. */
  readonly enter: (parts: FetchedState) => Promise<void>
  /** Called with each part of the state that was requested. */
  readonly onFetched?: (answer: FetchedAnswer) => void
  /** Called when no answer to such a request is taken any more. */
  readonly onClose?: () => void
  /** Called with each new reader: its port and its progress. */
  readonly onReader?: (reader: Pick<ReaderSettings, 'port' | 'taken'>) => void
}

type Answer = WorkerAnswers[keyof WorkerAnswers]

async function answerEngine(
  engine: EngineWithSenders,
  call: EngineCall,
  seal: AbortSignal | undefined,
  onForcedExecuted: () => void,
): Promise<EngineAnswers[keyof EngineAnswers]> {
  switch (call.method) {
    case 'insert':
      return engine.insert(unpack(call.payload), sendersIn(call.senders))
    case 'build': {
      const result = await engine.build(call.parent, unpack(call.attributes), seal, onForcedExecuted, sendersIn(call.senders))
      return result.kind === 'built' ? { kind: 'built', payload: packPayload(result.payload) } : result
    }
    case 'setHeads':
      await engine.setHeads(call.heads)
      return undefined
    case 'heads':
      return engine.heads()
    case 'payload': {
      const payload = await engine.payload(call.at)
      return payload && packPayload(payload)
    }
    case 'storageRoot':
      return engine.storageRoot(call.account, call.block)
  }
}

const isOfPool = (call: WorkerCall): call is PoolCall => call.method.startsWith('pool')
const isOfPending = (call: WorkerCall): call is PendingCall => call.method.startsWith('pending')

async function reply(outbox: WorkerOutbox, id: number, answer: Promise<Answer>): Promise<void> {
  try {
    outbox.send({ kind: 'answer', id, answer: await answer })
  } catch (error) {
    outbox.send({ kind: 'refusal', id, error: transferError(error) })
  }
}

/** Yields before each call of the pool: many messages in a row would take all time from a block that is being built. */
const inTurn = (pool: ServedPool, call: PoolCall): Promise<Answer> => nextTurn().then(() => answerPool(pool, call))

async function completed(complete: Served['complete'], { wanted, withinMs }: StateCall): Promise<undefined> {
  await complete(wanted, withinMs)
  return undefined
}

async function entered(enter: Served['enter'], { parts }: EnterCall): Promise<undefined> {
  await enter(parts)
  return undefined
}

/** Answers a reader's calls. Its port closes with the reader's thread. */
export function serveReader(port: MessagePort, { complete, ...pool }: ServedPool & Pick<Served, 'complete'>, outbox: WorkerOutbox): void {
  port.on('message', ({ id, call }: FromReader) => {
    void reply(outbox, id, call.method === 'complete' ? completed(complete, call) : inTurn(pool, call))
  })
}

/**
 * Answers the calls of an `ExecutionClient` by an engine and a pool, in any order; errors are answered too. Calls of the pool take turns with blocks
 * that are being built.
 * @returns when the other end requested to close and every earlier call is answered; blocks that are being built are sealed
 */
export async function serveEngine(
  port: MessagePort,
  { engine, pending, complete, enter, onEngineCall, onFetched, onClose, onReader, ...pool }: Served,
  outbox: WorkerOutbox,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const seals = new Map<number, AbortController>()
  async function answerTo(id: number, call: WorkerCall): Promise<Answer> {
    if (isOfPool(call)) return inTurn(pool, call)
    if (isOfPending(call)) return answerPending(pending, call)
    if (call.method === 'complete') return completed(complete, call)
    if (call.method === 'enter') return entered(enter, call)
    onEngineCall?.()
    if (call.method === 'build' && call.isSealedLater) seals.set(id, new AbortController())
    return answerEngine(engine, call, seals.get(id)?.signal, () => outbox.send({ kind: 'forced-executed', id }))
  }
  async function answer(id: number, call: WorkerCall): Promise<void> {
    await reply(outbox, id, answerTo(id, call))
    seals.delete(id)
  }
  await new Promise<void>((resolve) => {
    const onMessage = (message: ToWorker): void => {
      switch (message.kind) {
        case 'call': {
          const one = answer(message.id, message.call).finally(() => running.delete(one))
          running.add(one)
          return
        }
        case 'seal':
          seals.get(message.id)?.abort()
          return
        case 'reader':
          onReader?.(message)
          return
        case 'state':
        case 'state-refused':
          onFetched?.(message)
          return
        case 'genesis':
          return
        case 'close':
          port.off('message', onMessage)
          onClose?.()
          resolve()
      }
    }
    port.on('message', onMessage)
  })
  for (const seal of seals.values()) seal.abort()
  await Promise.all(running)
}
