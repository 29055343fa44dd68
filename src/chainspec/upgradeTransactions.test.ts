import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeDeposit } from '#types/deposit'
import { create2DeployerCode } from './create2Deployer.ts'
import { upgradeSource } from './sourceHash.ts'
import { upgradeTransactions, upgradeTransactionsAt } from './upgradeTransactions.ts'

it.each([
  ['ecotone', 6, '0xec1aa4d001fc132699a0ec68aa25b5872a0be9308195745f06e9db6859ab95a3'],
  ['fjord', 3, '0xedcf6d86f081abac7efed96df33ed2119e8385d44067a2ef6b821607f523ff24'],
  ['isthmus', 8, '0x10c8653dea3e4a54503143c2b2a83869425eaf540ca470352ed71eba40929671'],
  ['jovian', 5, '0xd498d96826b3d1bbb48b56346a26e018f3638bad34f723e5356396eef83cdadd'],
] as const)('chainspec/upgradeTransactions: %s has %i deposits, byte for byte as on the public networks', (fork, count, keccak) => {
  const transactions = upgradeTransactions(fork)
  expect(transactions).toHaveLength(count)
  expect(toHex(keccak256(concatBytes(...transactions)))).toBe(keccak)
})

it.each([
  ['ecotone', 0, 'Ecotone: L1 Block Deployment'],
  ['fjord', 1, 'Fjord: Gas Price Oracle Proxy Update'],
  ['isthmus', 7, 'Isthmus: EIP-2935 Contract Deployment'],
  ['jovian', 0, 'Jovian: L1 Block Deployment'],
  ['jovian', 1, 'Jovian: L1 Block Proxy Update'],
  ['jovian', 2, 'Jovian: Gas Price Oracle Deployment'],
  ['jovian', 3, 'Jovian: Gas Price Oracle Proxy Update'],
  ['jovian', 4, 'Jovian: Gas Price Oracle Set Jovian'],
] as const)('chainspec/upgradeTransactions: derives the source hash of %s %i from its intent', (fork, at, intent) => {
  const raw = upgradeTransactions(fork)[at]
  expect(raw && decodeDeposit(raw).sourceHash).toBe(upgradeSource(intent))
})

it('chainspec/upgradeTransactions: only the first block of a fork has upgrade transactions, and simultaneous forks have both sets', () => {
  const schedule = { ecotone: 10, fjord: 20, isthmus: 20 }
  expect(upgradeTransactionsAt(schedule, 6, 8)).toEqual([])
  expect(upgradeTransactionsAt(schedule, 8, 10)).toEqual(upgradeTransactions('ecotone'))
  expect(upgradeTransactionsAt(schedule, 10, 12)).toEqual([])
  expect(upgradeTransactionsAt(schedule, 19, 21)).toEqual([...upgradeTransactions('fjord'), ...upgradeTransactions('isthmus')])
})

it("chainspec/create2Deployer: the code matches the one that Canyon's activation sets", () => {
  expect(create2DeployerCode).toHaveLength(1_584)
  expect(toHex(keccak256(create2DeployerCode))).toMatch(/^0xb0550b5b.*68b2$/)
})
