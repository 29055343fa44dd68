import type { Batcher } from '#batcher/batcher'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { Node } from '#node/node'
import type { Hash } from '#types/ids'
import type { L1Gate } from './l1Gate.ts'
import type { DevnetMetrics } from './metrics.ts'
import type { DevnetFaults, DevnetL1 } from './ports.ts'
import { createTimedFault } from './timedFault.ts'

export type DevnetFaultsDeps = {
  readonly clock: Clock
  readonly l1: Pick<DevnetL1, 'reorg'>
  readonly gate: L1Gate
  readonly sequencer: Pick<NonNullable<Node['sequencer']>, 'isActive' | 'start' | 'stop'>
  /** undefined until the node has found it */
  readonly unsafeHead: () => Hash | undefined
  readonly batcher: Pick<Batcher, 'stop' | 'start' | 'corruptNext'>
  readonly metrics: Pick<DevnetMetrics, 'faults'>
  readonly log: Log
}

/** Faults with their current state. Disposing ends the active ones. */
export interface SwitchedFaults extends DevnetFaults, AsyncDisposable {
  readonly isSequencerPaused: boolean
  readonly isBatcherStopped: boolean
  readonly isL1Dropped: boolean
}

/** Reorgs L1 by at most `depth` blocks: fewer when L1 cannot replace as many, because it is new or was restarted. */
async function reorgAtMost(l1: Pick<DevnetL1, 'reorg'>, depth: number): Promise<void> {
  try {
    await l1.reorg(depth)
  } catch (error) {
    if (!isFault(error, 'DEVNET_L1_DEPTH')) throw error
    const most = Number(error.data['most'])
    if (most >= 1 && most < depth) await l1.reorg(most)
  }
}

/** Pause between attempts to start the sequencer at the unsafe head. */
const againMs = 100

export function createDevnetFaults(deps: DevnetFaultsDeps): SwitchedFaults {
  const { clock, l1, gate, sequencer, batcher, metrics, log } = deps
  let isClosing = false
  const said = log.child('faults')
  const told = (kind: Parameters<DevnetMetrics['faults']['inc']>[0]['kind'], fields: Readonly<Record<string, number>> = {}): void => {
    metrics.faults.inc({ kind })
    said.info('fault injected', { kind, ...fields })
  }
  /** Stops the sequencer. Ignores an error when it is not active afterwards. */
  async function stopSequencer(): Promise<void> {
    await sequencer.stop().catch((error: unknown) => {
      if (sequencer.isActive()) throw error
    })
  }
  /** Starts the sequencer, and retries when the unsafe head moved in between. */
  async function resumeSequencer(): Promise<void> {
    while (!isClosing && !sequencer.isActive()) {
      const head = deps.unsafeHead()
      const refused =
        head === undefined ||
        (await sequencer.start(head).then(
          () => false,
          () => true,
        ))
      if (refused) await clock.delay(againMs)
    }
  }
  const pause = createTimedFault(clock, { begin: stopSequencer, end: resumeSequencer })
  const silence = createTimedFault(clock, { begin: async () => batcher.stop(), end: async () => batcher.start() })
  const drop = createTimedFault(clock, { begin: async () => gate.shut(), end: async () => gate.open() })
  return {
    get isSequencerPaused(): boolean {
      return pause.isOn
    },
    get isBatcherStopped(): boolean {
      return silence.isOn
    },
    get isL1Dropped(): boolean {
      return drop.isOn
    },
    async pauseSequencer(seconds): Promise<void> {
      told('pause-sequencer', { seconds })
      await pause.begin(seconds)
    },
    async stopBatcher(seconds): Promise<void> {
      told('stop-batcher', { seconds })
      await silence.begin(seconds)
    },
    async corruptBatch(): Promise<void> {
      told('corrupt-batch')
      batcher.corruptNext()
    },
    async reorgL1(depth): Promise<void> {
      told('reorg-l1', { depth })
      await reorgAtMost(l1, depth)
    },
    async dropL1(seconds): Promise<void> {
      told('drop-l1', { seconds })
      await drop.begin(seconds)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      isClosing = true
      await Promise.all([pause, silence, drop].map((timedFault) => timedFault[Symbol.asyncDispose]()))
    },
  }
}
