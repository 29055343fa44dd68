// Execution halves that record proofs of a chain with a block each hour.
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { systemClock } from '#lib/clock'
import { type Log, silentLog } from '#lib/log'
import type { ProofsOptions } from '#node/nodeOptions'
import type { Retention } from '#types/chainDistance'
import { createNodeMemory } from '../../../src/node/memory/nodeMemory.ts'
import { type ExecutionHalf, openExecutionHalf } from '../../../src/node/parts/executionHalf.ts'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../chain/blocks.ts'
import { followConfig } from '../consensus/follow.ts'
import { testAccount, testAddress } from '../evm/sessions.ts'

const schedule = scheduleTo('isthmus')
export const hourSec = 3_600

/** Settings of a half. By default it keeps states of three hours in the chain, and proofs of nine, which it requires. */
export type ProvingSettings = Partial<ProofsOptions> & {
  readonly history?: Retention['history']
  /** window of proofs in the chain itself, which recorded proofs replace */
  readonly proofWindow?: Retention['proofs']
  readonly log?: Log
  /** absent: with proofs */
  readonly without?: 'proofs'
  /** another genesis */
  readonly isOtherChain?: boolean
  readonly registry?: Registry
}

/** Rollup config of the chain. */
export function provingConfig(isOtherChain = false): RollupConfig {
  const { config } = smallChain(schedule, isOtherChain ? [testAccount(testAddress(0x99), { balance: 1n })] : [])
  return { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
}

/** Opens an execution half on a data directory. Disposing closes it. */
export async function openProvingHalf(datadir: string, settings: ProvingSettings = {}): Promise<ExecutionHalf> {
  const {
    history = { sec: 3 * hourSec },
    proofWindow,
    without,
    isOtherChain,
    registry = new Registry(),
    log = silentLog,
    ...given
  } = settings
  const { genesis } = smallChain(schedule, isOtherChain ? [testAccount(testAddress(0x99), { balance: 1n })] : [])
  const proofs = { dir: join(datadir, 'proofs'), windowSec: 9 * hourSec, isRequired: true, ...given }
  const memory = createNodeMemory({ registry, clock: systemClock }, { listen: {} })
  const half = await openExecutionHalf(
    { clock: systemClock, log, registry, memory, fetch },
    {
      config: provingConfig(isOtherChain),
      genesis: () => genesis,
      ...{ datadir, minFreeBytes: 0, listen: {} },
      retention: { history, ...(without && { proofs: { sec: 6 * hourSec } }), ...(proofWindow && { proofs: proofWindow }) },
      ...(!without && { proofs }),
    },
  ).catch((error) => {
    memory[Symbol.dispose]()
    throw error
  })
  return {
    ...half,
    async [Symbol.asyncDispose](): Promise<void> {
      await half[Symbol.asyncDispose]()
      memory[Symbol.dispose]()
    },
  }
}

/** Adds a block an hour after the last one, with a transfer, and finalizes it. */
export async function addBlock({ execution }: Pick<ExecutionHalf, 'execution'>): Promise<void> {
  const heads = await execution.heads()
  const { number, timestamp } = heads.unsafe
  const attributes = attributesAt(schedule, number + 1, [signedBy('alice', { nonce: BigInt(number) })])
  const built = await execution.build(heads.unsafe, { ...attributes, timestamp: timestamp + hourSec })
  if (built.kind === 'invalid') throw new Error(built.reason)
  const unsafe = l2RefOf(smallChain(schedule).config, built.payload)
  await execution.setHeads({ unsafe, safe: unsafe, finalized: unsafe })
}

/** Waits until the recorded blocks are those of a window. */
export async function untilRecorded({ execution }: Pick<ExecutionHalf, 'execution'>, earliest: number, latest: number): Promise<void> {
  for (let looks = 0; looks < 200; looks++) {
    using view = execution.view()
    const { window } = view.proofs ?? {}
    if (window?.earliest.number === earliest && window.latest.number === latest) return
    await systemClock.delay(100)
  }
  using view = execution.view()
  expect(view.proofs).toMatchObject({ window: { earliest: { number: earliest }, latest: { number: latest } } })
}
