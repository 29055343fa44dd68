import { describe, expect, it } from 'vitest'
import { type Hash, parseHash } from '#types/ids'
import { forkActivations, forkHash, forkIdAt, judgeForkId } from './forkId.ts'
import { type Fork, forks } from './forks.ts'
import type { NetworkName } from './networkNames.ts'
import { networkOf } from './networks.ts'

/** Published fork ids of Base. Those up to Isthmus come from the reference client; Cobalt's was observed on the live network. */
const published: readonly (readonly [NetworkName, Fork, string])[] = [
  ['base', 'bedrock', '67da0260'],
  ['base', 'canyon', '3c283cb3'],
  ['base', 'ecotone', '51cc98b3'],
  ['base', 'fjord', 'e4010eb9'],
  ['base', 'granite', 'bc38f9ca'],
  ['base', 'holocene', '3a2af183'],
  ['base', 'isthmus', '86728b4e'],
  ['base', 'jovian', '1cfeafc9'],
  ['base', 'azul', 'a26d9e96'],
  ['base', 'beryl', 'ea0159eb'],
  ['base', 'cobalt', '68647e86'],
  ['base', 'denim', '169d85a3'],
  ['base-sepolia', 'bedrock', 'b959b9f7'],
  ['base-sepolia', 'canyon', '607cd5a1'],
  ['base-sepolia', 'ecotone', 'be969b17'],
  ['base-sepolia', 'fjord', '4e457a49'],
  ['base-sepolia', 'granite', '5edfa3b6'],
  ['base-sepolia', 'holocene', '8b5e7629'],
  ['base-sepolia', 'isthmus', '060a4d1d'],
  ['base-sepolia', 'jovian', 'ce484a55'],
  ['base-sepolia', 'azul', 'a419b1da'],
  ['base-sepolia', 'beryl', '7464b53e'],
  ['base-sepolia', 'cobalt', '39ea56b3'],
  ['base-sepolia', 'denim', 'c6757f44'],
]

describe('chainspec/forkId', () => {
  it.each(published)('%s: %s changes the hash to %s exactly at its first second, and the id names the next fork', (network, fork, hash) => {
    const { config } = networkOf(network)
    const { schedule, genesis } = config
    const start = Math.max(schedule[fork] ?? expect.fail(fork), genesis.l2TimeSec)
    const following = forks.slice(forks.indexOf(fork) + 1).find((each) => each !== 'delta' && (schedule[each] ?? 0) > start)
    const next = following === undefined ? 0 : schedule[following]
    expect(forkIdAt(config, start)).toEqual({ hash: `0x${hash}`, next })
    expect(forkIdAt(config, start - 1).hash === `0x${hash}`).toBe(fork === 'bedrock')
  })

  it('next is 0 after the last scheduled fork', () => {
    expect(forkIdAt(networkOf('base').config, 2 ** 40)).toEqual({ hash: '0x169d85a3', next: 0 })
  })

  it('ignores forks at genesis and counts simultaneous forks once', () => {
    const genesis = { l2: { number: 0, hash: parseHash(`0x${'11'.repeat(32)}`) }, l2TimeSec: 1_000 }
    const chain = { genesis, schedule: { bedrock: 0, regolith: 0, canyon: 1_000, delta: 1_500, ecotone: 2_000, fjord: 2_000, azul: 3_000 } }
    expect(forkActivations(chain)).toEqual([2_000, 3_000])
    expect(forkIdAt(chain, 1_999)).toEqual({ hash: forkHash(genesis.l2.hash as Hash, []), next: 2_000 })
    expect(forkIdAt(chain, 2_000).next).toBe(3_000)
  })
})

describe('chainspec/forkId: fork ids of peers, as of EIP-2124', () => {
  const genesis = parseHash('0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3')
  const activations = [1_150_000, 1_920_000, 2_463_000, 2_675_000, 4_370_000, 7_280_000]
  const [spurious, byzantium, petersburg] = ['0x3edd5b10', '0xa00bc324', '0x668db0af'] as const

  it.each([
    ['the same, no future fork', 7_987_396, petersburg, 0, 'compatible'],
    ['the same, with a fork that is not due', 7_987_396, petersburg, 2 ** 40, 'compatible'],
    ['the same, with a fork that this node has passed without knowing it', 7_987_396, petersburg, 7_900_000, 'local_stale'],
    ['the same before a fork that the peer does not know', 7_279_999, byzantium, 0, 'compatible'],
    ['the same before a fork that both know', 7_279_999, byzantium, 7_280_000, 'compatible'],
    ['the same, and another next fork', 7_279_999, byzantium, 2 ** 40, 'compatible'],
    ['a peer that is behind and knows the fork', 7_987_396, byzantium, 7_280_000, 'compatible'],
    ['a peer that is two forks behind', 7_987_396, spurious, 4_370_000, 'compatible'],
    ['a peer that is ahead', 7_279_999, petersburg, 0, 'compatible'],
    ['a peer two forks ahead', 4_369_999, petersburg, 0, 'compatible'],
    ['a peer that is behind and does not know the fork', 7_987_396, byzantium, 0, 'remote_stale'],
    ['a peer that is behind and knows another fork', 7_987_396, byzantium, 7_279_999, 'remote_stale'],
    ['a peer with a fork that this node does not know', 7_987_396, '0x5cddc0e1', 0, 'local_stale'],
    ['a peer of another chain', 7_987_396, '0xafec6b27', 0, 'local_stale'],
  ] as const)('%s', (_, head, hash, next, verdict) => {
    expect(judgeForkId(genesis, activations, head, { hash, next })).toBe(verdict)
  })
})
