import { expect, it } from 'vitest'
import { createSequencerHost, headOf } from '#test/harness/consensus/sequencer'
import { DeriveWorld, forksTo, userTransaction } from '#test/harness/derive/world'

/** Stops a sequencer that is behind its schedule, this number of event loop turns after block 4 was executed. */
async function stopAfter(steps: number): Promise<{ readonly told: string; readonly head: string }> {
  let stop = (): void => {}
  const host = createSequencerHost(new DeriveWorld(forksTo('jovian')), (number) => {
    if (number === 4) stop()
    return [userTransaction(number)]
  })
  host.clock.jumpMs(20_000)
  const run = host.start()
  let told: Promise<string> | undefined
  stop = (): void => {
    const later = async (): Promise<string> => {
      for (let step = 0; step < steps; step++) await undefined
      return run.sequencer.stop()
    }
    told ??= later()
  }
  await host.pass(30)
  const hash = await told
  const head = headOf(run).blockHash
  await run.stop()
  return { told: hash ?? 'not stopped', head }
}

it('consensus/sequencer: `stop` returns the last head, whenever it is called', { timeout: 20_000 }, async () => {
  for (let steps = 0; steps < 80; steps++) {
    const { told, head } = await stopAfter(steps)
    expect([steps, told]).toEqual([steps, head])
  }
})
