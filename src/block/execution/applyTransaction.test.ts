import { describe, expect, it } from 'vitest'
import type { EvmRules } from '#chainspec/evmRules'
import type { EvmSession } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { bigintFromBytes, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { addressOfKey, secp256k1Order, signDigest } from '#lib/secp256k1'
import { addressOf, cancun, osaka, prague, push, storeIn, testAccount, testBlock } from '#test/harness/evm/host'
import { ethereumFees } from '#test/vectors/ethereumFees'
import { createWorld } from '#test/vectors/stateTestWorld'
import { type Address, addressFromBytes, type Hash, zeroAddress } from '#types/ids'
import type { Authorization, BlobTransaction, FeeMarketTransaction, SetCodeTransaction, SignedTransaction } from '#types/transaction'
import { applyTransaction, type FeeRules, type TransactionResult } from './applyTransaction.ts'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const ether = '0xde0b6b3a7640000'
const evm = createWasmEvm()
const raw = new Uint8Array(1)

const base: FeeMarketTransaction = {
  type: 2,
  chainId: 1n,
  nonce: 0n,
  gasLimit: 100_000n,
  to: contract,
  value: 0n,
  data: new Uint8Array(0),
  maxFeePerGas: 20n,
  maxPriorityFeePerGas: 3n,
  accessList: [],
  yParity: 0,
  r: 1n,
  s: 1n,
}
const setCode = (authorizationList: readonly Authorization[]): SetCodeTransaction => ({ ...base, type: 4, to: contract, authorizationList })
const blob = (parts: Partial<BlobTransaction>): BlobTransaction => ({
  ...base,
  type: 3,
  to: contract,
  maxFeePerBlobGas: 1n,
  blobVersionedHashes: [`0x01${'00'.repeat(31)}` as Hash],
  ...parts,
})

function sessionOf(pre: Record<Address, Parameters<typeof testAccount>[0]>, rules: EvmRules = prague): EvmSession {
  const accounts: typeof pre = { [sender]: { balance: ether }, ...pre }
  const world = Object.entries(accounts).map(([address, parts]) => [address, testAccount(parts)] as const)
  return evm.open(createWorld(Object.fromEntries(world)).view, testBlock, rules)
}

function apply(
  session: EvmSession,
  tx: SignedTransaction,
  rules: EvmRules = prague,
  fees: FeeRules = ethereumFees(rules.fork),
): TransactionResult {
  return applyTransaction(session, testBlock, rules, fees, tx, raw, sender, 30_000_000n)
}

describe('block/execution/applyTransaction: fees', () => {
  it('charges the sender base fee and tip for the gas used, and pays the tip to the beneficiary', () => {
    const session = sessionOf({})
    expect(apply(session, { ...base, value: 7n })).toMatchObject({ kind: 'executed', gasUsed: 21_000n })
    expect(session.account(sender)).toMatchObject({ nonce: 1n, balance: 10n ** 18n - 7n - 21_000n * 13n })
    expect(session.account(testBlock.beneficiary)?.balance).toBe(21_000n * 3n)
  })

  it('requires the upfront fee on top of the maximum gas price, and keeps the refund of the fee rules', () => {
    const fees: FeeRules = { upfront: () => 1_000n, settle: (to, bill) => to.addBalance(bill.sender, 400n) }
    const dearest = 100_000n * 20n
    const rich = sessionOf({ [sender]: { balance: `0x${(dearest + 1_000n).toString(16)}` } })
    expect(apply(rich, base, prague, fees).kind).toBe('executed')
    expect(rich.account(sender)?.balance).toBe(dearest + 1_000n - 21_000n * 13n - 600n)
    const poor = sessionOf({ [sender]: { balance: `0x${(dearest + 999n).toString(16)}` } })
    expect(apply(poor, base, prague, fees)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('insufficient funds') })
    expect([...poor.diff().accounts()]).toEqual([])
  })

  it('charges blobs at the block’s price', () => {
    const session = sessionOf({})
    expect(apply(session, blob({ maxFeePerBlobGas: 5n })).kind).toBe('executed')
    expect(session.account(sender)?.balance).toBe(10n ** 18n - 21_000n * 13n - 131_072n)
  })

  it('applies from Prague on a calldata floor that refunds do not lower (EIP-7623)', () => {
    const data = new Uint8Array(1_000).fill(1)
    expect(apply(sessionOf({}), { ...base, data })).toMatchObject({ gasUsed: 21_000n + 40_000n })
    expect(apply(sessionOf({}, cancun), { ...base, data }, cancun)).toMatchObject({ gasUsed: 21_000n + 16_000n })
  })

  it('refunds at most a fifth of the gas (EIP-3529)', () => {
    const clears = { code: `0x${push(0)}${storeIn(1)}00`, storage: { '0x1': '0x1' } }
    // 21,000 + 3 + 3 + 5,000, of which 4,800 are refunded
    expect(apply(sessionOf({ [contract]: clears }), base)).toMatchObject({ gasUsed: 26_006n - 4_800n })
    const clearsMore = { code: `0x${push(0)}${storeIn(1)}${push(0)}${storeIn(2)}00`, storage: { '0x1': '0x1', '0x2': '0x1' } }
    const ran = 21_000n + 2n * 5_006n
    expect(apply(sessionOf({ [contract]: clearsMore }), base)).toMatchObject({ gasUsed: ran - ran / 5n })
  })
})

describe('block/execution/applyTransaction: refuses without a change', () => {
  const high = { ...base, maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }
  it.each<[string, string, SignedTransaction, EvmRules]>([
    ['another chain’s transaction', 'chain id', { ...base, chainId: 2n }, prague],
    ['a nonce that is too high', 'nonce too high', { ...base, nonce: 1n }, prague],
    ['a fee cap below the base fee', 'max fee per gas less than', high, prague],
    ['a tip above the fee cap', 'max priority fee', { ...base, maxPriorityFeePerGas: 21n }, prague],
    ['a gas limit below the intrinsic gas', 'intrinsic gas too low', { ...base, gasLimit: 20_999n }, prague],
    ['a gas limit below the floor', 'floor data gas', { ...base, gasLimit: 40_000n, data: new Uint8Array(1_000).fill(1) }, prague],
    ['a gas limit above the remaining gas of the block', 'gas limit reached', { ...base, gasLimit: 30_000_001n }, prague],
    ['a gas limit above the transaction cap', 'gas limit too high', { ...base, gasLimit: 16_777_217n }, osaka],
    ['initcode of more than 49,152 bytes', 'initcode', { ...base, to: null, gasLimit: 10_000_000n, data: new Uint8Array(49_153) }, prague],
    ['more wei than the sender has', 'insufficient funds', { ...base, value: 10n ** 18n }, prague],
    ['blobs before Cancun', 'type not supported', blob({}), { fork: 'shanghai', precompileLimits: {} }],
    ['no blobs', 'missing blob hashes', blob({ blobVersionedHashes: [] }), prague],
    ['a blob hash of another version', 'hash version', blob({ blobVersionedHashes: [`0x02${'00'.repeat(31)}` as Hash] }), prague],
    ['a blob fee cap below the blob base fee', 'blob gas fee', blob({ maxFeePerBlobGas: 0n }), prague],
    ['delegations before Prague', 'type not supported', setCode([]), cancun],
    ['an empty list of authorizations', 'empty authorization list', setCode([]), prague],
  ])('%s: %s', (_what, reason, tx, rules) => {
    const session = sessionOf({}, rules)
    expect(apply(session, tx, rules)).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) })
    expect([...session.diff().accounts()]).toEqual([])
  })

  it('accepts a gas limit at the transaction cap, and a higher one before Osaka (EIP-7825)', () => {
    expect(apply(sessionOf({}, osaka), { ...base, gasLimit: 16_777_216n }, osaka)).toMatchObject({ kind: 'executed', gasUsed: 21_000n })
    expect(apply(sessionOf({}), { ...base, gasLimit: 16_777_217n })).toMatchObject({ kind: 'executed', gasUsed: 21_000n })
  })

  it('a blob transaction when the fee rules allow none', () => {
    const fees: FeeRules = { upfront: () => 0n, settle: () => {} }
    expect(apply(sessionOf({}), blob({}), prague, fees)).toMatchObject({ kind: 'refused', reason: 'transaction type not supported: 3' })
  })

  it('a sender with code that is not a delegation (EIP-3607)', () => {
    expect(apply(sessionOf({ [sender]: { balance: ether, code: '0x00' } }), base)).toMatchObject({ reason: 'sender not an eoa' })
    const delegated = { balance: ether, code: `0xef0100${contract.slice(2)}` }
    expect(apply(sessionOf({ [sender]: delegated }), base).kind).toBe('executed')
    // no chain has delegations before Prague; Base's client does not check the fork here
    expect(apply(sessionOf({ [sender]: delegated }, cancun), base, cancun).kind).toBe('executed')
  })
})

describe('block/execution/applyTransaction: authorizations (EIP-7702)', () => {
  const key = new Uint8Array(32).fill(5)
  const authority = addressFromBytes(addressOfKey(key))
  const delegate = addressOf(0x44)
  const intrinsic = 21_000n + 25_000n

  function authorize(parts: Partial<Pick<Authorization, 'chainId' | 'address' | 'nonce'>>): Authorization {
    const { chainId, address, nonce } = { chainId: 1n, address: delegate, nonce: 0n, ...parts }
    const digest = keccak256(concatBytes(Uint8Array.of(5), encodeRlp([rlpScalar(chainId), fromHex(address), rlpScalar(nonce)])))
    const { signature, yParity } = signDigest(digest, key)
    const [r, s] = [bigintFromBytes(signature.subarray(0, 32)), bigintFromBytes(signature.subarray(32))]
    return { chainId, address, nonce, yParity, r, s }
  }

  it('sets the delegation of a new authority and increments its nonce', () => {
    const session = sessionOf({})
    expect(apply(session, setCode([authorize({})]))).toMatchObject({ kind: 'executed', gasUsed: intrinsic })
    expect(session.code(authority)).toEqual(fromHex(`0xef0100${delegate.slice(2)}`))
    expect(session.account(authority)?.nonce).toBe(1n)
  })

  it('adds 12,500 gas to the refund for an existing authority', () => {
    const session = sessionOf({ [authority]: { balance: '0x1' } })
    expect(apply(session, setCode([authorize({})]))).toMatchObject({ gasUsed: intrinsic - intrinsic / 5n })
    const burning = { code: `0x${push(1)}${storeIn(1)}00` }
    const ran = intrinsic + 22_106n
    expect(apply(sessionOf({ [authority]: { balance: '0x1' }, [contract]: burning }), setCode([authorize({})]))).toMatchObject({
      gasUsed: ran - 12_500n,
    })
  })

  it('accepts an authorization for any chain and skips one for another chain', () => {
    const session = sessionOf({})
    apply(session, setCode([authorize({ chainId: 0n })]))
    expect(session.account(authority)?.nonce).toBe(1n)
    const foreign = sessionOf({})
    apply(foreign, setCode([authorize({ chainId: 2n })]))
    expect(foreign.account(authority)).toBeUndefined()
  })

  it('applies entries in order, each on the nonce of the previous entry, and skips a mismatch', () => {
    const session = sessionOf({})
    const list = [authorize({}), authorize({ nonce: 0n, address: contract }), authorize({ nonce: 1n, address: sender })]
    apply(session, setCode(list))
    expect(session.code(authority)).toEqual(fromHex(`0xef0100${sender.slice(2)}`))
    expect(session.account(authority)?.nonce).toBe(2n)
  })

  it('removes the delegation when the delegate is the zero address', () => {
    const session = sessionOf({ [authority]: { code: `0xef0100${delegate.slice(2)}`, nonce: '0x4' } })
    apply(session, setCode([authorize({ nonce: 4n, address: zeroAddress })]))
    expect(session.code(authority)).toHaveLength(0)
  })

  it('keeps code that is not a delegation', () => {
    const session = sessionOf({ [authority]: { code: '0x6001', nonce: '0x0' } })
    apply(session, setCode([authorize({})]))
    expect(session.code(authority)).toEqual(fromHex('0x6001'))
  })

  it('skips an authorization with high s (EIP-2)', () => {
    const session = sessionOf({})
    const low = authorize({})
    apply(session, setCode([{ ...low, s: secp256k1Order - low.s, yParity: 1 - low.yParity }]))
    expect(session.account(authority)).toBeUndefined()
  })

  it('keeps a delegation when the message fails', () => {
    const session = sessionOf({ [contract]: { code: '0xfe' } })
    expect(apply(session, setCode([authorize({})]))).toMatchObject({ outcome: { kind: 'halt' }, gasUsed: 100_000n })
    expect(session.account(authority)?.nonce).toBe(1n)
  })

  it('follows a delegation in the same transaction, with a warm authority', () => {
    // slot 0 := gas of BALANCE(authority), then a call of the authority
    const price = `5a${push(authority)}31505a9003${storeIn(0)}`
    const call = `${push(0).repeat(5)}${push(authority)}5af15000`
    const session = sessionOf({ [delegate]: { code: `0x${push(7)}${storeIn(3)}00` }, [contract]: { code: `0x${price}${call}` } })
    const result = apply(session, { ...setCode([authorize({})]), gasLimit: 200_000n })
    expect(result).toMatchObject({ outcome: { kind: 'success' } })
    expect(session.slot(contract, `0x${'00'.repeat(32)}` as Hash)).toBe(100n + 3n + 2n + 2n)
    expect(session.slot(authority, `0x${'00'.repeat(31)}03` as Hash)).toBe(7n)
  })
})
