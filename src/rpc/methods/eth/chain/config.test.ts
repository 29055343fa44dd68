import { describe, expect, it } from 'vitest'
import { forkConfigsOf } from '#chainspec/forkConfigs'
import type { ForkIdChain } from '#chainspec/forkId'
import { networkOf } from '#chainspec/networks'
import { scheduleTo } from '#test/harness/chain/blocks'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { parseHash } from '#types/ids'
import { ethRegistry } from '../../../methods.ts'

type Config = {
  readonly activationTime: number
  readonly blobSchedule: object
  readonly chainId: string
  readonly forkId: string
  readonly precompiles: Readonly<Record<string, string>>
  readonly systemContracts: Readonly<Record<string, string>>
}
type Answer = { readonly current: Config; readonly next: Config | null; readonly last: Config | null }

/** eth_config when the latest block has this timestamp (seconds). */
async function configAt(timestamp: number, forks: ForkIdChain): Promise<Answer> {
  const plain = fakeContext(fakeChain([[]]))
  const view = () => {
    const one = plain.chain.view()
    return { ...one, header: (hash: Parameters<typeof one.header>[0]) => ({ ...(one.header(hash) ?? expect.fail()), timestamp }) }
  }
  const context = { ...plain, chain: { ...plain.chain, view }, forks, forkConfigs: forkConfigsOf(forks) }
  return (await ethRegistry.get('eth_config')?.call(context, [])) as Answer
}

const beaconRoots = { BEACON_ROOTS_ADDRESS: '0x000f3df6d732807ef1319fb7b8bb8522d0beac02' }
const both = { ...beaconRoots, HISTORY_STORAGE_ADDRESS: '0x0000f90827f1c53a10cb7a02335b175320002935' }
const { config: mainnet } = networkOf('base')

describe('rpc/methods/eth/chain/config', () => {
  it.each([
    ['a second before Azul', 1_779_991_199, [1_764_691_201, '0x1cfeafc9'], [1_779_991_200, '0xa26d9e96']],
    ['at Azul', 1_779_991_200, [1_779_991_200, '0xa26d9e96'], [1_782_410_400, '0xea0159eb']],
    ['in the first block of Azul', 1_779_991_201, [1_779_991_200, '0xa26d9e96'], [1_782_410_400, '0xea0159eb']],
    ['in the last block before Beryl', 1_782_410_399, [1_779_991_200, '0xa26d9e96'], [1_782_410_400, '0xea0159eb']],
    ['at Cobalt, whose id was seen live', 1_790_791_201, [1_790_791_200, '0x68647e86'], [1_793_901_600, '0x169d85a3']],
  ])('for Base mainnet %s: returns current and next with their fork ids, and Denim as the last', async (_what, time, current, next) => {
    const answer = await configAt(time, mainnet)
    const told = [answer.current, answer.next, answer.last].map((one) => [one?.activationTime, one?.forkId])
    expect(told).toEqual([current, next, [1_793_901_600, '0x169d85a3']])
  })

  it('returns exactly these members; the blob schedule is zero', async () => {
    const { current } = await configAt(1_779_991_201, mainnet)
    const { precompiles, ...rest } = current
    expect(rest).toEqual({
      activationTime: 1_779_991_200,
      blobSchedule: { baseFeeUpdateFraction: 0, max: 0, target: 0 },
      chainId: '0x2105',
      forkId: '0xa26d9e96',
      systemContracts: both,
    })
    expect(Object.keys(precompiles)).toEqual(Object.keys(precompiles).sort())
    expect(precompiles).toMatchObject({ ECREC: `0x${'01'.padStart(40, '0')}`, P256VERIFY: `0x${'0100'.padStart(40, '0')}` })
    expect(Object.keys(precompiles)).toHaveLength(18)
  })

  it.each([
    ['genesis', 0, 9, {}],
    ['Ecotone', 1_710_374_401, 10, beaconRoots],
    ['Fjord', 1_720_627_201, 11, beaconRoots],
    ['Isthmus', 1_746_806_401, 18, both],
    ['Denim', 1_793_901_600, 18, both],
  ])('for %s: lists all precompiles and system contracts', async (_what, activation, count, contracts) => {
    const { current } = await configAt(activation === 0 ? mainnet.genesis.l2TimeSec : activation, mainnet)
    expect(current.activationTime).toBe(activation)
    expect(Object.keys(current.precompiles)).toHaveLength(count)
    expect(current.systemContracts).toEqual(contracts)
  })

  it('returns null for next and last without a planned fork', async () => {
    const genesis = { l2: { number: 0, hash: parseHash(`0x${'22'.repeat(32)}`) }, l2TimeSec: 1_000 }
    const answer = await configAt(5_000, { schedule: scheduleTo('azul'), genesis })
    expect(answer).toMatchObject({ current: { activationTime: 0 }, next: null, last: null })
    expect(Object.keys(answer)).toEqual(['current', 'next', 'last'])
  })
})
