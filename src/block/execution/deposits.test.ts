import { describe, expect, it } from 'vitest'
import { type EvmFork, evmForks } from '#chainspec/evmRules'
import { fromHex } from '#lib/hex'
import { openSession, plainRules, testAccount, testAddress } from '#test/harness/evm/sessions'
import type { Deposit } from '#types/deposit'
import { zeroHash } from '#types/ids'
import { applyDeposit, type DepositMetering } from './deposits.ts'

const from = testAddress(1)
const to = testAddress(2)
const reverting = testAddress(3)
const halting = testAddress(4)
const storing = testAddress(5)

const accounts = [
  testAccount(from, { balance: 10n, nonce: 5n }),
  testAccount(reverting, { code: '0x60006000fd' }),
  testAccount(halting, { code: '0xfe' }),
  // stores 1 at slot 0 and then 0, which earns a refund
  testAccount(storing, { code: '0x600160005560006000550000' }),
]

const plain: Deposit = {
  type: 0x7e,
  sourceHash: zeroHash,
  from,
  to,
  mint: 0n,
  value: 0n,
  gasLimit: 100_000n,
  isSystemTransaction: false,
  data: new Uint8Array(0),
}

function run(fields: Partial<Deposit>, metering: DepositMetering = 'used', fork: EvmFork = 'prague') {
  const session = openSession(accounts, plainRules(fork))
  const result = applyDeposit(session, plainRules(fork), metering, { ...plain, ...fields })
  const sender = session.account(from)
  return {
    ...result,
    session,
    senderNonce: sender?.nonce,
    senderBalance: sender?.balance,
    received: session.account(to)?.balance,
  }
}

describe('block/execution/deposits', () => {
  it.each([
    ['a value paid from its mint', { mint: 100n, value: 110n }, { succeeded: true, gasUsed: 21_000n, senderBalance: 0n, received: 110n }],
    [
      'more value than the balance: the mint persists',
      { mint: 1n, value: 12n },
      { succeeded: false, gasUsed: 100_000n, senderBalance: 11n },
    ],
    [
      'a revert: gas as used, the mint stays',
      { to: reverting, mint: 1n, value: 3n },
      { succeeded: false, gasUsed: 21_006n, senderBalance: 11n },
    ],
    ['a halt: all gas is used', { to: halting, mint: 1n, value: 3n }, { succeeded: false, gasUsed: 100_000n, senderBalance: 11n }],
    ['less gas than the intrinsic gas', { gasLimit: 20_999n, value: 1n }, { succeeded: false, gasUsed: 20_999n, senderBalance: 10n }],
    ['a system transaction after Regolith', { isSystemTransaction: true }, { succeeded: false, gasUsed: 100_000n, senderBalance: 10n }],
  ] as const)('%s; the nonce rises once', (_what, fields, expected) => {
    expect(run(fields)).toMatchObject({ ...expected, nonce: 5n, senderNonce: 6n })
  })

  it('fails below the floor gas of Prague, and uses at least the floor above it', () => {
    const data = new Uint8Array(1_000).fill(1)
    expect(run({ data, gasLimit: 60_999n })).toMatchObject({ succeeded: false, gasUsed: 60_999n })
    expect(run({ data, gasLimit: 61_000n })).toMatchObject({ succeeded: true, gasUsed: 61_000n })
    expect(run({ data, gasLimit: 60_999n }, 'used', 'cancun')).toMatchObject({ succeeded: true, gasUsed: 37_000n })
  })

  it.each([
    ['that succeeds', '0x00', true],
    ['that halts', '0xfe', false],
    ['that reverts', '0x60006000fd', false],
  ])('increments the nonce once for a creation %s', (_what, data, succeeded) => {
    expect(run({ to: null, data: fromHex(data) })).toMatchObject({ succeeded, nonce: 5n, senderNonce: 6n })
  })

  // results of Base's client: bytes of initcode, then gas at Paris, at Shanghai and Cancun, from Prague on
  it.each([
    [49_152, 249_608n, 252_680n, 512_520n],
    [49_153, 249_612n, 252_686n, 512_530n],
    [200_000, 853_000n, 865_500n, 2_021_000n],
  ])('runs a creation with %i bytes of initcode, because EIP-3860 limits only signed transactions', (size, paris, shanghai, prague) => {
    const expected: Record<EvmFork, bigint> = { paris, shanghai, cancun: shanghai, prague, osaka: prague }
    for (const fork of evmForks) {
      const result = run({ to: null, data: new Uint8Array(size), gasLimit: 3_000_000n }, 'used', fork)
      expect(result, fork).toMatchObject({ succeeded: true, gasUsed: expected[fork], nonce: 5n, senderNonce: 6n })
    }
  })

  // results of Base's client; no account of a chain has the maximum nonce (EIP-2681)
  it.each([
    ['a call runs', { to }, { succeeded: true, gasUsed: 21_000n, received: 3n }],
    ['a call that halts uses all gas', { to: halting }, { succeeded: false, gasUsed: 100_000n }],
    ['a creation ends at once and succeeds', { to: null, data: Uint8Array.of(0xfe) }, { succeeded: true, gasUsed: 53_018n }],
    ['a system transaction fails', { to, isSystemTransaction: true }, { succeeded: false, gasUsed: 100_000n }],
  ])('keeps the maximum nonce when %s', (_what, fields, expected) => {
    const spent = testAddress(8)
    const session = openSession([...accounts, testAccount(spent, { nonce: 2n ** 64n - 1n })], plainRules('prague'))
    const result = applyDeposit(session, plainRules('prague'), 'used', { ...plain, from: spent, mint: 3n, value: 3n, ...fields })
    expect({ ...result, received: session.account(to)?.balance }).toMatchObject({ ...expected, nonce: 2n ** 64n - 1n })
    expect(session.account(spent)?.nonce).toBe(2n ** 64n - 1n)
  })

  it('refunds at most a fifth of the gas, from Regolith on', () => {
    const used = run({ to: storing }).gasUsed
    expect(run({ to: storing }, 'limit', 'paris').gasUsed).toBe(100_000n)
    // 21,000 + 22,100 + 100 + 4 × 3, of which a fifth is refunded
    expect(used).toBe(43_212n - 43_212n / 5n)
  })

  it.each([
    ['the whole gas limit', {}, 100_000n, true],
    ['the whole gas limit when it fails', { value: 11n }, 100_000n, false],
    ['nothing for a system transaction', { isSystemTransaction: true }, 0n, true],
  ] as const)('before Regolith a deposit uses %s', (_what, fields, gasUsed, succeeded) => {
    expect(run(fields, 'limit', 'paris')).toMatchObject({ gasUsed, succeeded, senderNonce: 6n })
  })

  it('creates a sender that does not exist, with its mint and nonce', () => {
    const newcomer = testAddress(9)
    const { session, nonce } = run({ from: newcomer, mint: 4n })
    expect(nonce).toBe(0n)
    expect(session.account(newcomer)).toMatchObject({ nonce: 1n, balance: 4n })
  })
})
