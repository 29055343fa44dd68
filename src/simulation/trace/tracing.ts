import { inputOfBlock } from '#block/execution/blockInput'
import type { BlockDeps, ParentBlock } from '#block/execution/executeBlock'
import { createSenders } from '#block/execution/senders'
import { attributesRefusal, inputOfAttributes } from '#block/validation/blockRules'
import { maxGasLimitAfter } from '#block/validation/gasLimitRule'
import type { StateView } from '#evm/ports'
import type { TracedEnd, TracedTransaction } from '#evm/traceEvents'
import { emptyBytes } from '#lib/bytes'
import type { CacheSource } from '#lib/caches'
import { isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { RunTimer } from '#rpc/callPorts'
import type { BlockTracing, SlicedWork, StorageRange, TraceOutcome, TraceRequest, Tracing, WitnessOutcome } from '#rpc/tracePorts'
import { hashHeader } from '#types/header'
import { type Address, type Hash, zeroAddress, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { decodeTransaction, depositType } from '#types/transaction'
import { BlockReplay, NotReplayable, type ReplayedBlock } from '../replay/replay.ts'
import { storageFrom } from '../replay/replayStorage.ts'
import type { SimulationDeps } from '../simulationDeps.ts'
import { sliceMs, Turns } from '../slicedRun.ts'
import { createWitness } from '../witness/witness.ts'
import { WitnessParts } from '../witness/witnessParts.ts'
import { ReplayCalls, type ReplayOf } from './traceCalls.ts'
import { runTraced } from './tracedRun.ts'

/** Size of the sender cache for blocks that a caller passes, in bytes. */
const maxSenderBytes = 2 ** 20

class ReplayTracing implements BlockTracing {
  readonly #deps: SimulationDeps & BlockDeps
  readonly #replay: BlockReplay
  readonly #hash: Hash
  readonly #ran: () => void

  /** @param ran called after work on the replay, whose memory may have grown */
  constructor(deps: SimulationDeps & BlockDeps, replay: BlockReplay, hash: Hash, ran: () => void) {
    this.#deps = deps
    this.#replay = replay
    this.#hash = hash
    this.#ran = ran
  }

  get hashes(): readonly Hash[] {
    return this.#replay.hashes
  }

  prepare(index: number): boolean | 'pruned' {
    return this.#onParent((parent) => this.#advance(parent, index, sliceMs))
  }

  trace(index: number, request: TraceRequest, timer: RunTimer): TraceOutcome | 'pruned' {
    return this.#onParent((parent) => {
      this.#advance(parent, index, Number.POSITIVE_INFINITY)
      if (this.#replay.isReady(index)) return this.#traceReady(parent, index, request, timer)
      return { kind: 'refused', reason: 'an earlier transaction of the block cannot be executed' }
    })
  }

  storage(index: number, address: Address, start: Uint8Array, max: number): StorageRange | 'pruned' {
    return this.#onParent((parent) => {
      this.#advance(parent, index, Number.POSITIVE_INFINITY)
      const addressKey = keccak256(fromHex(address))
      return storageFrom(parent, this.#replay.changedSlots(index, addressKey), addressKey, start, max)
    })
  }

  #onParent<T>(work: (parent: ParentBlock) => T): T | 'pruned' {
    using view = this.#deps.execution.view()
    const parent = view.parent(this.#replay.of.block.header.parentHash)
    if (parent === undefined) return 'pruned'
    try {
      return work(parent)
    } finally {
      this.#ran()
    }
  }

  /** @returns true when the work is done: the state is available, or it cannot be reached */
  #advance(parent: ParentBlock, index: number, forMs: number): boolean {
    const endMs = this.#deps.clock.elapsedMs() + forMs
    try {
      while (!this.#replay.isReady(index)) {
        if (this.#deps.clock.elapsedMs() > endMs) return false
        this.#replay.advance(parent)
      }
    } catch (error) {
      if (!(error instanceof NotReplayable)) throw error
    }
    return true
  }

  #traceReady(parent: ParentBlock, index: number, request: TraceRequest, timer: RunTimer): TraceOutcome {
    const replay = this.#replay
    return runTraced(this.#deps, request, timer, {
      facts: this.#factsOf(index),
      before: replay.before(index, parent),
      run(evm, listen): TracedEnd | { readonly refused: TraceOutcome } {
        try {
          using ran = replay.run(index, parent, evm, listen)
          const executed = ran.run.executed.at(-1)
          return { gasUsed: Number(executed?.gasUsed ?? 0n), succeeded: executed?.receipt.succeeded ?? false }
        } catch (error) {
          if (error instanceof NotReplayable) return { refused: { kind: 'refused', reason: error.message } }
          throw error
        }
      },
    })
  }

  #factsOf(index: number): TracedTransaction {
    const { block, senders, isUnsealed } = this.#replay.of
    const transaction = decodeTransaction(block.transactions[index] ?? emptyBytes)
    const hash = this.hashes[index] ?? zeroHash
    const { to, value, data, gasLimit } = transaction
    const signer = transaction.type === depositType ? transaction.from : (senders?.[index] ?? this.#deps.senders.of(transaction, hash))
    const blockHash = isUnsealed ? zeroHash : this.#hash
    const place = { blockHash, blockNumber: block.header.number, hash, index }
    return { from: signer ?? zeroAddress, to, value, data, gas: Number(gasLimit), ...place }
  }
}

function readBlock({ execution }: SimulationDeps, hash: Hash): ReplayedBlock | undefined {
  using view = execution.view()
  return view.block(hash)
}

function replayOfBlock(deps: SimulationDeps & BlockDeps, hash: Hash): BlockReplay | undefined {
  const found = readBlock(deps, hash)
  return found && new BlockReplay(deps, found)
}

/** Returns why the gas limit of attributes from a client is refused: it bounds the work of the whole block. */
function gasRefusal({ execution }: SimulationDeps, parentHash: Hash, { gasLimit }: PayloadAttributes): string | undefined {
  using view = execution.view()
  const parent = view.header(parentHash)
  const most = parent && maxGasLimitAfter(parent)
  return most !== undefined && gasLimit > most ? `gas limit ${gasLimit}, at most ${most} expected` : undefined
}

function codeIn(view: StateView, codeHash: Hash): Uint8Array | undefined {
  try {
    return view.code(codeHash)
  } catch (error) {
    if (isFault(error, 'CODE_MISSING')) return undefined
    throw error
  }
}

/**
 * Creates the tracing of blocks and calls. It keeps the states between the transactions of recently traced blocks, so that another trace of such a
 * block runs one transaction only.
 * @param caches `replays`: one megabyte for a block with 800 transactions; `witness`: recent witnesses, about half of that each
 */
export function createTracing(given: SimulationDeps, caches: CacheSource<'replays' | 'witness'>): Tracing {
  const deps = { ...given, senders: createSenders({ maxBytes: maxSenderBytes }) }
  const replays = caches.lru<Hash, BlockReplay>('replays')
  const witnesses = { parts: new WitnessParts(caches), turns: new Turns() }
  const replayOf: ReplayOf = (hash) => {
    const replay = replays.get(hash) ?? replayOfBlock(deps, hash)
    const keep = (): void => {
      if (replay) replays.set(hash, replay, replay.sizeBytes)
    }
    return replay && { replay, tracing: new ReplayTracing(deps, replay, hash, keep) }
  }
  return {
    known: (hash) => replayOf(hash)?.tracing,
    given: (block) => new ReplayTracing(deps, new BlockReplay(deps, { block, senders: undefined }), hashHeader(block.header), () => {}),
    calls: (place) => new ReplayCalls(deps, place, replayOf),
    code(at, codeHash): Uint8Array | undefined | 'pruned' {
      using view = deps.execution.view()
      const block = view.parent(at.hash)
      return block === undefined ? 'pruned' : codeIn(block.state.view, codeHash)
    },
    witness(hash): SlicedWork<WitnessOutcome> | undefined {
      const of = replays.get(hash)?.of ?? readBlock(deps, hash)
      if (of === undefined) return undefined
      const { block, senders } = of
      const input = inputOfBlock(block)
      return createWitness(deps, { parentHash: block.header.parentHash, input, senders }, witnesses, hash)
    },
    payloadWitness(parentHash, attributes, startTimer): SlicedWork<WitnessOutcome> | { readonly refused: string } {
      const refused = attributesRefusal(deps.config, attributes) ?? gasRefusal(deps, parentHash, attributes)
      if (refused !== undefined) return { refused }
      const input = inputOfAttributes(deps.config, attributes)
      return createWitness(deps, { parentHash, input, senders: undefined, startTimer }, witnesses)
    },
  }
}
