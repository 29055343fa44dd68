import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { Answer, DerivedAttributes, L1Block, Pipeline, SafeBlock, SafeHead, StartPoint, Step } from './ports.ts'
import { orderedFrames } from './rules/frameOrder.ts'
import type { SafeBlocks } from './rules/validity.ts'
import { reset } from './stage.ts'
import { nextAttributes } from './stages/attributes.ts'
import { type BatchDecider, createBatchQueue } from './stages/batchQueue.ts'
import { createBatchStage } from './stages/batchStage.ts'
import { createBatchStream } from './stages/batchStream.ts'
import { createChannelAssembler } from './stages/channelAssembler.ts'
import { createChannelBank } from './stages/channelBank.ts'
import { createChannelReader } from './stages/channelReader.ts'
import { createEpochs, type Epochs } from './stages/epochs.ts'
import { createFrameQueue } from './stages/frameQueue.ts'
import { createL1Retrieval, type L1Retrieval } from './stages/l1Retrieval.ts'
import { createL1Traversal, type L1Traversal } from './stages/l1Traversal.ts'

/** Safe blocks that the driver fetched for span batches. They belong to one safe head. */
class FetchedSafeBlocks implements SafeBlocks {
  readonly #blocks = new Map<number, SafeBlock>()
  #safeHash: string | undefined

  read(number: number): SafeBlock | undefined {
    return this.#blocks.get(number)
  }

  add(number: number, block: SafeBlock): void {
    this.#blocks.set(number, block)
  }

  /** Clears the blocks when the safe head has changed. */
  follow(safeHash: string): void {
    if (safeHash !== this.#safeHash) this.#blocks.clear()
    this.#safeHash = safeHash
  }
}

/** State of derivation between two resets. At Holocene's activation, `batches` and its stages down to the frame queue are replaced. */
type Run = {
  readonly traversal: L1Traversal
  readonly retrieval: L1Retrieval
  readonly epochs: Epochs
  readonly safeBlocks: FetchedSafeBlocks
  readonly accountedFor: number
  batches: BatchDecider
  /** reason why every step is a reset until the driver resets the pipeline */
  failure: string | undefined
}

type Ground = Omit<Run, 'batches' | 'failure'>

function createBatches(config: RollupConfig, ground: Ground, log: Log): BatchDecider {
  const { traversal, retrieval, epochs, safeBlocks, accountedFor } = ground
  if (!isActive(config.schedule, 'holocene', traversal.origin.timestamp)) {
    const frames = createFrameQueue(retrieval, (all) => all, log)
    const reader = createChannelReader(config, traversal, createChannelBank(config, traversal, frames, log), log)
    return createBatchQueue(config, { traversal, epochs, reader, safeBlocks }, log)
  }
  const frames = createFrameQueue(retrieval, orderedFrames, log)
  const reader = createChannelReader(config, traversal, createChannelAssembler(config, traversal, frames, log), log)
  const stream = createBatchStream(config, { traversal, epochs, reader, safeBlocks }, log)
  return createBatchStage(config, { traversal, epochs, stream, safeBlocks, accountedFor }, log)
}

function begin(config: RollupConfig, start: StartPoint, log: Log): Run {
  const traversal = createL1Traversal(config, start, log)
  const retrieval = createL1Retrieval(config, traversal, log)
  const accountedFor = start.accountedFor ?? config.genesis.l1.number
  const ground = { traversal, retrieval, epochs: createEpochs(traversal), safeBlocks: new FetchedSafeBlocks(), accountedFor }
  return { ...ground, batches: createBatches(config, ground, log), failure: undefined }
}

/**
 * Creates the pipeline from L1 bytes to payload attributes. It reads one L1 block at a time.
 * The stages after retrieval are replaced when the pipeline reads the first L1 block of Holocene; the state they hold is dropped.
 * @throws (from `provide`) Fault MALFORMED_DEPOSIT, L1_BLOB_SCHEDULE (fatal)
 * @see specs protocol/derivation.md, "L2 Chain Derivation Pipeline"; holocene/derivation.md, "Activation"
 */
export function createPipeline(config: RollupConfig, start: StartPoint, log: Log): Pipeline {
  let run = begin(config, start, log)

  const read = (block: L1Block): void => {
    if (block.ref.number !== run.traversal.wanted) return
    const before = run.traversal.origin
    run.failure = run.traversal.accept(block)
    const becameHolocene =
      isActive(config.schedule, 'holocene', block.ref.timestamp) && !isActive(config.schedule, 'holocene', before.timestamp)
    if (run.failure === undefined && becameHolocene) run.batches = createBatches(config, run, log)
  }

  return {
    get origin(): L1Ref {
      return run.traversal.origin
    },
    step(safe: SafeHead): Step<DerivedAttributes> {
      if (run.failure !== undefined) return reset(run.failure)
      run.safeBlocks.follow(safe.ref.hash)
      if (run.traversal.wanted === undefined) {
        const step = nextAttributes(config, run, safe)
        if (step.kind === 'reset') run.failure = step.reason
        if (step.kind !== 'wait') return step
        run.traversal.advance()
      }
      return { kind: 'need', want: { kind: 'l1-block', number: run.traversal.wanted ?? run.traversal.origin.number + 1 } }
    },
    provide(answer: Answer): void {
      switch (answer.kind) {
        case 'l1-block':
          read(answer.block)
          break
        case 'blobs':
          run.retrieval.provide(answer)
          break
        case 'l2-block':
          if (answer.block === undefined) run.failure = `safe block ${answer.number} is unknown`
          else run.safeBlocks.add(answer.number, answer.block)
          break
      }
    },
    flushChannel(): void {
      run.batches.flush()
    },
    reset(to: StartPoint): void {
      run = begin(config, to, log)
    },
  }
}
