import type { HeadRecord } from '#blockchain/heads/headRecord'
import { timeOf } from '#chainspec/blockTime'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import type { ExecutedTrace } from '#executionThread/wire/protocol'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { SlowCall } from '#rpc/server/slowCalls'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { traceMetrics } from '../metrics.ts'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions, TraceOptions } from '../nodeOptions.ts'
import { type BlockSource, BlockTraces, type Step } from './blockTraces.ts'
import { OtlpExporter } from './otlpExporter.ts'
import { newSpanId, newTraceId, type SpanSink } from './span.ts'

/** A slow call as its thread reports it: the parameters stay there. */
export type SlowCallFacts = Omit<SlowCall, 'params' | 'address'> & { readonly endMs: number }

/** Counts of senders that other threads have recovered in time, and of those that execution recovered itself. */
export type SendersBy = { readonly ready: number; readonly own: number }

/** Traces of a node. Disposing sends the spans that wait. */
export interface Tracing extends AsyncDisposable {
  /** Returns the same engine, whose calls are steps of their blocks. @param source of blocks without another known one */
  engine(engine: Engine, source: 'engine-api' | 'followed-node', senders?: () => SendersBy): Engine
  /** Returns the same port, whose calls are steps of their blocks. */
  pending(port: PendingPort): PendingPort
  /** A call of the Engine API begins. */
  engineCall(): void
  /** A block has arrived from a peer. @param latencyMs from its due time to its arrival */
  gossiped(payload: Payload, latencyMs: number): void
  executed(facts: ExecutedTrace): void
  /** A transaction of the store begins or ends. */
  commit(phase: 'begin' | 'end'): void
  publish(record: HeadRecord): void
  /** Subscribers of a thread were notified of a block. */
  announced(block: BlockId, thread: string, endMs: number): void
  slow(call: SlowCallFacts): void
}

class NodeTracing implements Tracing {
  readonly #clock: Clock
  readonly #config: NodeOptions['config']
  readonly #blocks: BlockTraces
  readonly #sink: SpanSink
  readonly #end: () => Promise<void>
  /** execution of blocks whose call has not returned, by hash */
  readonly #executed = new Map<string, readonly Step[]>()
  /** open blocks that the store has */
  readonly #isCommitted = new Set<BlockId['hash']>()
  /** first announcement of recent blocks */
  readonly #publishedMs = new Map<string, number>()
  /** start of the last call of the Engine API, until its payload is known */
  #callMs: number | undefined
  /** start of the running transaction of the store, or of the last one */
  #commitMs: number | undefined
  #lastHead = ''

  constructor(clock: Clock, config: NodeOptions['config'], exporter: OtlpExporter, sample: number) {
    this.#clock = clock
    this.#config = config
    this.#sink = exporter
    this.#blocks = new BlockTraces({ clock, sink: exporter }, sample)
    this.#end = async (): Promise<void> => {
      this.#blocks[Symbol.dispose]()
      await exporter[Symbol.asyncDispose]()
    }
  }

  engine(engine: Engine, source: 'engine-api' | 'followed-node', senders?: () => SendersBy): Engine {
    return {
      insert: (payload): Promise<InsertResult> => this.#insert(engine, payload, source, senders),
      build: (parent, attributes, seal, onForced): Promise<BuildResult> =>
        this.#build(() => engine.build(parent, attributes, seal, onForced), attributes.noTxPool === true ? 'l1' : 'sequencer'),
      setHeads: (heads): Promise<void> => this.#setHeads(engine, heads),
      heads: (): Promise<Heads> => engine.heads(),
      payload: (at): Promise<Payload | undefined> => engine.payload(at),
      storageRoot: (account, block): Promise<Hash | undefined> => engine.storageRoot(account, block),
    }
  }

  pending(port: PendingPort): PendingPort {
    return {
      take: async (flashblock, after, freshUntilMs): Promise<PendingOutcome> => {
        const startMs = this.#clock.nowMs()
        const outcome = await port.take(flashblock, after, freshUntilMs)
        const { blockNumber, index } = flashblock
        const attributes = { 'flashblock.index': index, 'flashblock.outcome': outcome.kind }
        this.#blocks.addStreamed(blockNumber, { name: 'flashblock', startMs, endMs: this.#clock.nowMs(), attributes })
        return outcome
      },
      drop: (reason): Promise<void> => port.drop(reason),
    }
  }

  engineCall(): void {
    this.#callMs = this.#clock.nowMs()
  }

  gossiped(payload: Payload, latencyMs: number): void {
    const { blockNumber: number, blockHash: hash } = payload
    const step = { name: 'receive', startMs: timeOf(this.#config, number) + latencyMs, endMs: this.#clock.nowMs() }
    this.#blocks.add({ hash, number }, step, { 'block.source': 'gossip' satisfies BlockSource })
  }

  executed({ hash, endMs, ms, stages: { transactions, seal } }: ExecutedTrace): void {
    if (!this.#blocks.isSampled(hash)) return
    const [startMs, sealMs] = [endMs - ms, endMs - seal]
    const inside: Step[] = []
    if (transactions > 0) inside.push({ name: 'transactions', startMs: sealMs - transactions, endMs: sealMs })
    if (seal > 0) inside.push({ name: 'root', startMs: sealMs, endMs })
    this.#executed.set(hash, [{ name: 'execution', startMs, endMs, inside }])
    for (const [oldest] of this.#executed) if (this.#executed.size > maxExecuted) this.#executed.delete(oldest)
  }

  commit(phase: 'begin' | 'end'): void {
    if (phase === 'begin') this.#commitMs = this.#clock.nowMs()
  }

  publish({ heads: { unsafe }, committed }: HeadRecord): void {
    const endMs = this.#clock.nowMs()
    for (const block of this.#blocks.open()) {
      if (block.number > committed.number || this.#isCommitted.has(block.hash)) continue
      this.#isCommitted.add(block.hash)
      this.#blocks.add(block, { name: 'commit', startMs: this.#commitMs ?? endMs, endMs })
    }
    for (const hash of this.#isCommitted) if (!this.#blocks.isOpen(hash)) this.#isCommitted.delete(hash)
    if (unsafe.hash === this.#lastHead) return
    this.#lastHead = unsafe.hash
    this.announced(unsafe, 'main', endMs)
  }

  announced(block: BlockId, thread: string, endMs: number): void {
    if (!this.#blocks.isOpen(block.hash)) return
    const startMs = Math.min(endMs, this.#publishedMs.get(block.hash) ?? endMs)
    this.#publishedMs.set(block.hash, startMs)
    for (const [oldest] of this.#publishedMs) if (this.#publishedMs.size > maxExecuted) this.#publishedMs.delete(oldest)
    this.#blocks.add(block, { name: 'announce', startMs, endMs, attributes: { thread } })
  }

  slow({ method, cost, ms, queueMs, answerBytes, errorCode, endMs }: SlowCallFacts): void {
    const [traceId, spanId, startMs] = [newTraceId(), newSpanId(), endMs - ms]
    const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method, 'rpc.class': cost, 'rpc.answer_bytes': answerBytes }
    const error = errorCode === undefined ? {} : { error: String(errorCode) }
    const queue = { traceId, spanId: newSpanId(), parentSpanId: spanId, name: 'queue', startMs, endMs: startMs + queueMs, attributes: {} }
    this.#sink.add([{ traceId, spanId, name: 'slow request', startMs, endMs, attributes, ...error }, ...(queueMs > 0 ? [queue] : [])])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end()
  }

  async #insert(engine: Engine, payload: Payload, source: BlockSource, senders?: () => SendersBy): Promise<InsertResult> {
    const { blockNumber: number, blockHash: hash, gasUsed, transactions } = payload
    const block = { hash, number }
    const [startMs, callMs] = [this.#clock.nowMs(), this.#callMs]
    this.#callMs = undefined
    if (source === 'engine-api' && callMs !== undefined) this.#blocks.add(block, { name: 'decode', startMs: callMs, endMs: startMs })
    const facts = {
      ...{ 'block.gas_used': Number(gasUsed), 'block.transactions': transactions.length },
      ...(!this.#blocks.isOpen(hash) || source === 'engine-api' ? { 'block.source': source } : {}),
    }
    const before = senders?.()
    try {
      const result = await engine.insert(payload)
      const now = senders?.()
      const attributes = {
        'block.outcome': result.kind,
        ...(before && now && { 'senders.by_threads': now.ready - before.ready, 'senders.by_execution': now.own - before.own }),
      }
      this.#blocks.add(block, { name: 'insert', startMs, endMs: this.#clock.nowMs(), attributes, inside: this.#takeExecuted(hash) }, facts)
      return result
    } catch (error) {
      this.#blocks.add(block, { name: 'insert', startMs, endMs: this.#clock.nowMs(), error: errorMessage(error) }, facts)
      throw error
    }
  }

  async #setHeads(engine: Engine, heads: Heads): Promise<void> {
    const startMs = this.#clock.nowMs()
    await engine.setHeads(heads)
    if (this.#blocks.isOpen(heads.unsafe.hash)) this.#blocks.add(heads.unsafe, { name: 'head', startMs, endMs: this.#clock.nowMs() })
  }

  async #build(build: () => Promise<BuildResult>, source: BlockSource): Promise<BuildResult> {
    const startMs = this.#clock.nowMs()
    const result = await build()
    if (result.kind !== 'built') return result
    const { blockNumber: number, blockHash: hash, gasUsed, transactions } = result.payload
    const facts = { 'block.source': source, 'block.gas_used': Number(gasUsed), 'block.transactions': transactions.length }
    const step = { name: 'build', startMs, endMs: this.#clock.nowMs(), inside: this.#takeExecuted(hash) }
    this.#blocks.add({ hash, number }, step, facts)
    return result
  }

  #takeExecuted(hash: string): readonly Step[] {
    const steps = this.#executed.get(hash) ?? []
    this.#executed.delete(hash)
    return steps
  }
}

/** Executed blocks whose call has not returned: one, and those of builds that run beside it. */
const maxExecuted = 256

/** Creates the traces of a node; undefined: there is no collector. */
export function createTracing(
  { clock, log, fetch, registry }: PartDeps,
  { trace, config, mode, version }: Pick<NodeOptions, 'trace' | 'config' | 'mode' | 'version'>,
): Tracing | undefined {
  if (trace === undefined) return undefined
  const { url, headers = {}, service, sample }: TraceOptions = trace
  const attributes = { 'service.name': service, 'service.version': version, 'basalt.mode': mode, 'basalt.chain_id': config.l2ChainId }
  const metrics = traceMetrics.register(registry)
  const exporter = new OtlpExporter({ clock, log: log.child('trace'), fetch, metrics }, { url, headers, resource: { version, attributes } })
  return new NodeTracing(clock, config, exporter, sample)
}
