import { expect, it } from 'vitest'
import { parseAddress } from '#types/ids'
import type { ForkSchedule } from './forks.ts'
import { networkOf } from './networks.ts'
import { evmRulesAt, latestFork } from './opRules.ts'
import { approachingFork, warningAheadSec } from './unsupportedFork.ts'

const schedule: ForkSchedule = {
  bedrock: 0,
  regolith: 10,
  canyon: 20,
  delta: 30,
  ecotone: 40,
  fjord: 50,
  granite: 60,
  holocene: 70,
  isthmus: 80,
  jovian: 90,
  azul: 100,
}

it.each([
  [0, 'bedrock', 'paris', undefined, undefined],
  [19, 'regolith', 'paris', undefined, undefined],
  [20, 'canyon', 'shanghai', undefined, undefined],
  [39, 'delta', 'shanghai', undefined, undefined],
  [40, 'ecotone', 'cancun', undefined, undefined],
  [50, 'fjord', 'cancun', 3_450, undefined],
  [60, 'granite', 'cancun', 3_450, 112_687],
  [79, 'holocene', 'cancun', 3_450, 112_687],
  [80, 'isthmus', 'prague', 3_450, 112_687],
  [90, 'jovian', 'prague', 3_450, 81_984],
  [99, 'jovian', 'prague', 3_450, 81_984],
  [100, 'azul', 'osaka', 6_900, 81_984],
  [101, 'azul', 'osaka', 6_900, 81_984],
])('chainspec/opRules: a block at time %i follows %s (%s)', (time, fork, evm, p256, pairing) => {
  const rules = evmRulesAt(schedule, time)
  expect(latestFork(schedule, time)).toBe(fork)
  expect(rules.fork).toBe(evm)
  expect(rules.p256VerifyGas).toBe(p256)
  expect(rules.precompileLimits.bn254PairingBytes).toBe(pairing)
})

it('chainspec/opRules: returns the same object for all times between two changes', () => {
  expect(evmRulesAt(schedule, 60)).toBe(evmRulesAt(schedule, 79))
  expect(evmRulesAt(schedule, 80)).not.toBe(evmRulesAt(schedule, 79))
})

it('chainspec/opRules: Azul keeps all limits of Jovian', () => {
  expect(evmRulesAt(schedule, 100).precompileLimits).toEqual({
    bn254PairingBytes: 81_984,
    blsG1MsmBytes: 288_960,
    blsG2MsmBytes: 278_784,
    blsPairingBytes: 156_672,
  })
})

it.each([
  ['base', 1_779_991_200, 1_782_410_400],
  ['base-sepolia', 1_776_708_000, 1_781_805_600],
] as const)('chainspec/opRules: %s follows Azul from %i on, and has native contracts from %i on', (network, azul, beryl) => {
  const { schedule: times } = networkOf(network).config
  expect([azul - 1, azul, beryl - 1, beryl].map((time) => evmRulesAt(times, time).fork)).toEqual(['prague', 'osaka', 'osaka', 'osaka'])
  expect(evmRulesAt(times, beryl - 1).nativeContracts).toBeUndefined()
  const { activationAdmin } = times
  expect(evmRulesAt(times, beryl)).toEqual({ ...evmRulesAt(times, azul), nativeContracts: { fork: 'beryl', activationAdmin } })
})

it('chainspec/unsupportedFork: reports an approaching fork 14 days ahead with the time left, not earlier', () => {
  const next = { fork: '14 of the schedule on L1', activationSec: 10_000_000 }
  expect(approachingFork(next, 10_000_000 - warningAheadSec - 1)).toBeUndefined()
  expect(approachingFork(next, 10_000_000 - 3_600)).toEqual({ ...next, leftSec: 3_600 })
  expect(approachingFork(next, 20_000_000)?.leftSec).toBe(0)
  expect(approachingFork(undefined, 0)).toBeUndefined()
})

it('chainspec/opRules: the native contracts follow Beryl, Cobalt and Denim, with one object for each activation admin', () => {
  const activationAdmin = parseAddress(`0x${'ad'.repeat(20)}`)
  const planned: ForkSchedule = { ...schedule, beryl: 110, cobalt: 120, denim: 130 }
  const forkAt = (time: number) => evmRulesAt(planned, time).nativeContracts?.fork
  expect([109, 110, 119, 120, 130].map(forkAt)).toEqual([undefined, 'beryl', 'beryl', 'cobalt', 'denim'])
  expect(evmRulesAt(planned, 110).nativeContracts?.activationAdmin).toBeUndefined()
  const administered = evmRulesAt({ ...planned, activationAdmin }, 110)
  expect(administered.nativeContracts).toEqual({ fork: 'beryl', activationAdmin })
  expect(evmRulesAt({ ...planned, activationAdmin }, 111)).toBe(administered)
  expect(administered).toMatchObject({ fork: 'osaka', p256VerifyGas: 6_900 })
})

it('chainspec/networks: both networks name their activation admin', () => {
  expect(networkOf('base').config.schedule.activationAdmin).toBe('0xce3a3bee7e72e2a24079f3c0cb3b97740ed425a9')
  expect(networkOf('base-sepolia').config.schedule.activationAdmin).toBe('0x5f43072722f59964d886cbb507f6a85ca0759d42')
})
