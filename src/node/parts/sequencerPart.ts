import type { ConsensusDeps, Feed } from '#consensus/consensus'
import { sequencerMetrics } from '#consensus/metrics'
import { Sequencer, type SequencerControl, type SequencerDeps, type SequencerOptions } from '#consensus/sequencer'
import { isFault } from '#lib/fault'
import type { AdminNode, AdminOutcome } from '#rpc/ports'
import type { PartDeps } from '../nodeDeps.ts'

/** A sequencer, before consensus gives it a chain. */
export type SequencerPart = {
  create(parts: Parameters<NonNullable<ConsensusDeps['createSequencer']>>[0]): Feed
  /** undefined before it is created */
  control(): SequencerControl | undefined
}

export function openSequencer(
  { clock, log, registry, onSealed }: Pick<PartDeps, 'clock' | 'log' | 'registry'> & Pick<SequencerDeps, 'onSealed'>,
  options: SequencerOptions,
): SequencerPart {
  const metrics = sequencerMetrics.register(registry)
  let sequencer: Sequencer | undefined
  return {
    create(parts): Feed {
      sequencer = new Sequencer({ ...parts, clock, log: log.child('sequencer'), metrics, ...(onSealed && { onSealed }) }, options)
      return sequencer
    },
    control: () => sequencer,
  }
}

/** Returns the sequencer in the form that admin methods use. */
export function adminSequencer(control: SequencerControl): NonNullable<AdminNode['sequencer']> {
  return {
    isActive: () => control.isActive(),
    start: (unsafe) => refusedOr(async () => control.start(unsafe)),
    stop: () => refusedOr(() => control.stop()),
  }
}

async function refusedOr<T>(run: () => Promise<T>): Promise<AdminOutcome<T>> {
  try {
    return { kind: 'done', value: await run() }
  } catch (error) {
    if (!isFault(error, 'SEQUENCER_STATE')) throw error
    return { kind: 'refused', reason: error.message }
  }
}
