import { maxNonce } from '#types/account'
// Small blocks at each edge of each check, under every fork: what chance may miss.

import { gasBounds } from '#block/validation/intrinsicGas'
import { l1FeeVault } from '#chainspec/addresses'
import { bytesFromBigint, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { secp256k1Order } from '#lib/secp256k1'
import type { CallMessage } from '#rpc/callPorts'
import { accountOf } from '#test/harness/chain/blocks'
import type { CaseAccount } from '#test/harness/evm/case'
import { addressOf, callTo, storeIn } from '#test/harness/evm/host'
import { type Address, parseAddress, zeroAddress } from '#types/ids'
import type { Authorization } from '#types/transaction'
import type { Corpus } from '../fuzz/evm/corpus.ts'
import { type BlockCase, bytesOf, type CaseBlock, type CaseTransaction } from './blockCase.ts'
import { footprintOf, type Prices, upfrontOf, usualPrices, withPrices } from './prices.ts'
import { blockHashNoter, blockHashNoterCode, usualBlock } from './randomCase.ts'
import { type AnyFields, attributes, authorize, deposit, hasDelegations, rulesUnder, signedBy } from './transactions.ts'
import { type OracleFork, oracleForks } from './wire.ts'

/** Parts of a case; omitted ones have usual values. Alice and bob have ether, carol has none. */
type Parts = {
  readonly transactions?: readonly CaseTransaction[]
  readonly accounts?: readonly (readonly [Address, Partial<CaseAccount>])[]
  readonly prices?: Partial<Prices>
  readonly block?: Partial<CaseBlock>
  readonly calls?: readonly CallMessage[]
}

const ether = 10n ** 18n
const [alice, bob, carol] = ['alice', 'bob', 'carol'].map(accountOf) as [Address, Address, Address]
const empty: CaseAccount = { nonce: 0n, balance: 0n, code: emptyBytes, storage: new Map() }
const code = (hex: string): Partial<CaseAccount> => ({ nonce: 1n, code: fromHex(`0x${hex}`) })
const delegationTo = (address: Address): Partial<CaseAccount> => ({ nonce: 1n, code: fromHex(`0xef0100${address.slice(2)}`) })
const [storing, calling, halting] = [addressOf(0x51), addressOf(0x52), addressOf(0x53)]
/** Runs SSTORE(0, 1), then LOG0. */
const stores = '60015f555f5fa000'

function caseOf(fork: OracleFork, parts: Parts): BlockCase {
  const accounts = new Map<Address, CaseAccount>([
    [alice, { ...empty, balance: 1_000n * ether }],
    [bob, { ...empty, balance: 1_000n * ether }],
    [storing, { ...empty, ...code(stores) }],
    [calling, { ...empty, ...code(`${callTo(alice)}${storeIn(1)}00`) }],
    [halting, { ...empty, ...code('fe') }],
    [blockHashNoter, { ...empty, nonce: 1n, code: blockHashNoterCode }],
  ])
  for (const [address, fields] of parts.accounts ?? []) accounts.set(address, { ...(accounts.get(address) ?? empty), ...fields })
  return {
    fork,
    block: { ...usualBlock, ...parts.block },
    accounts: withPrices(accounts, { ...usualPrices, ...parts.prices }),
    transactions: [attributes, ...(parts.transactions ?? [])],
    calls: parts.calls ?? [],
  }
}

const call = (fields: Partial<CallMessage>): CallMessage => ({
  from: alice,
  to: storing,
  value: 0n,
  data: emptyBytes,
  gasLimit: 1_000_000n,
  gasPrice: 0n,
  accessList: [],
  authorizationList: [],
  ...fields,
})

const initcodeSizes = [49_151, 49_152, 49_153, 60_000]
const creation = (size: number) => ({ to: null, data: new Uint8Array(size), gasLimit: 3_000_000n })

/** A deposit, a signed transaction and a call with the same fields. */
const allWays = (fields: { to: Address | null; data: Uint8Array; gasLimit: bigint }): Parts => ({
  transactions: [deposit(fields), signedBy('bob', fields)],
  calls: [call(fields)],
})

function boundsCases(fork: OracleFork): Parts[] {
  const shapes = [
    { to: storing, data: emptyBytes },
    { to: addressOf(0x99), data: new Uint8Array(1_000).fill(1) },
    { to: null, data: new Uint8Array(1_000) },
    { to: addressOf(4), data: new Uint8Array(300).fill(7) },
  ]
  return shapes.flatMap((shape) => {
    const { intrinsic, floor } = gasBounds(rulesUnder(fork), { ...shape, gasLimit: 0n })
    const limits = [intrinsic - 1n, intrinsic, intrinsic + 1n, ...(floor > 0n ? [floor - 1n, floor, floor + 1n] : [])]
    return limits.map((gasLimit) => allWays({ ...shape, gasLimit }))
  })
}

/** Gas limits around the cap of EIP-7825, and the gas limit of the block. */
const capCases = (): Parts[] =>
  [16_777_215n, 16_777_216n, 16_777_217n, 30_000_000n].map((gasLimit) => allWays({ to: storing, data: emptyBytes, gasLimit }))

function blockGasCases(): Parts[] {
  const block = { gasLimit: 5_000_000n }
  const used = 21_000n + 4n * 16n
  return [-1n, 0n, 1n].flatMap((off) => {
    const gasLimit = block.gasLimit - used + off
    return [
      { block, transactions: [deposit({ to: storing, gasLimit }), deposit({ to: storing })] },
      { block, transactions: [signedBy('bob', { to: storing, gasLimit }), signedBy('bob', { to: storing, nonce: 1n })] },
      { block, transactions: [deposit({ to: storing, gasLimit, isSystemTransaction: true })] },
    ]
  })
}

/** EIP-2681: the largest nonces of senders, creators and authorities. */
function nonceCases(): Parts[] {
  return [maxNonce - 1n, maxNonce].flatMap((nonce) => {
    const accounts = [[alice, { nonce }] as const]
    const ways = [storing, null].flatMap((to) => [
      deposit({ to, value: 1n, data: emptyBytes }),
      deposit({ to, isSystemTransaction: true }),
      deposit({ to: to === null ? null : halting, data: Uint8Array.of(0xfe) }),
      signedBy('alice', { to, nonce }),
    ])
    return [
      ...ways.map((transaction): Parts => ({ accounts, transactions: [transaction] })),
      { accounts, calls: [call({}), call({ to: null })] },
    ]
  })
}

/** EIP-3607: senders with code of each kind. */
function codeCases(fork: OracleFork): Parts[] {
  const codes = [code('00'), code(stores), code('ef'), ...(hasDelegations(fork) ? [delegationTo(storing), delegationTo(alice)] : [])]
  return codes.map((fields) => ({
    accounts: [[alice, fields]],
    transactions: [
      deposit({ to: storing }),
      deposit({ to: alice, value: 1n }),
      deposit({ to: null }),
      signedBy('alice', { to: storing, nonce: 4n }),
      signedBy('bob', { to: calling }),
    ],
    calls: [call({})],
  }))
}

function balanceCases(fork: OracleFork): Parts[] {
  const value = 12_345n
  const bill: AnyFields = { to: storing, value, gasLimit: 60_000n, maxFeePerGas: 2_000n, gasPrice: 2_000n }
  const cost = (type: 0 | 2): bigint =>
    60_000n * 2_000n + value + upfrontOf(fork, usualPrices, bytesOf(signedBy('carol', { ...bill, type })), 60_000n)
  const signed = ([0, 2] as const).flatMap((type) =>
    [-1n, 0n, 1n].map(
      (off): Parts => ({
        accounts: [[carol, { balance: cost(type) + off }]],
        transactions: [signedBy('carol', { ...bill, type })],
        calls: [call({ from: carol, value: cost(type) + off }), call({ from: carol, value: cost(type) + off + 1n })],
      }),
    ),
  )
  const minted = [-1n, 0n, 1n].flatMap((off) =>
    [storing, null, halting].map(
      (to): Parts => ({
        accounts: [[carol, { balance: 100n }]],
        transactions: [deposit({ from: carol, to, mint: 1_000n, value: 1_100n + off })],
      }),
    ),
  )
  const mostMint = deposit({ from: carol, to: bob, mint: 2n ** 128n - 1n, value: 2n ** 128n - 1n })
  return [...signed, ...minted, { transactions: [mostMint, mostMint] }]
}

const priceCases = (): Parts[] =>
  [0n, 999n, 1_000n, 1_001n, 2n ** 64n, 2n ** 128n - 1n].flatMap((maxFeePerGas) =>
    ([0, 1, 2] as const).map(
      (type): Parts => ({
        transactions: [
          signedBy('alice', { type, to: storing, maxFeePerGas, gasPrice: maxFeePerGas, maxPriorityFeePerGas: 1_000n, gasLimit: 90_000n }),
        ],
      }),
    ),
  )

const chainCases = (): Parts[] => {
  const unprotected = signedBy('alice', { type: 0, to: storing })
  const { chainId: _, ...tx } = unprotected.kind === 'signed' ? unprotected.tx : { chainId: 0n }
  const others = [0n, 1n, 900n].flatMap((chainId) => ([0, 1, 2] as const).map((type) => signedBy('alice', { type, to: storing, chainId })))
  const kept = { kind: 'signed', by: 'alice', tx } as CaseTransaction
  return [kept, ...others].map((transaction) => ({ transactions: [transaction] }))
}

/** EIP-7702: one case for each kind of authorization. */
function authorizationCases(): Parts[] {
  const to = (address: Address, nonce = 0n, by = 'carol') => authorize(by, { address, nonce })
  const usual = to(storing)
  const lists: Authorization[][] = [
    [],
    [usual],
    [to(storing), to(calling, 1n), to(zeroAddress, 2n)],
    [to(storing), to(storing)],
    [to(storing, 1n)],
    [to(storing, maxNonce), to(storing, maxNonce - 1n)],
    [authorize('carol', { address: storing, chainId: 0n })],
    [authorize('carol', { address: storing, chainId: 902n }), authorize('carol', { address: storing, chainId: 2n ** 256n - 1n })],
    [{ ...usual, s: secp256k1Order - usual.s, yParity: 1 - usual.yParity }],
    [{ ...usual, yParity: 2 }],
    [{ ...usual, yParity: 1 - usual.yParity }],
    [{ ...usual, r: 0n }],
    [{ ...usual, s: 0n }],
    [{ ...usual, r: secp256k1Order }],
    // the sender itself, whose nonce is already increased
    [to(storing, 0n, 'alice'), to(storing, 1n, 'alice')],
    [to(storing, 1n, 'alice'), to(zeroAddress, 2n, 'alice')],
    [to(accountOf('carol'))],
    [to(addressOf(1)), to(storing, 0n, 'bob')],
    [to(addressOf(4)), to(zeroAddress, 1n)],
    [to(calling), to(halting, 0n, 'new')],
  ]
  return lists.map((authorizationList) => ({
    transactions: [
      signedBy('alice', { type: 4, to: carol, gasLimit: 400_000n, authorizationList }),
      deposit({ to: carol, from: bob }),
      signedBy('bob', { to: calling }),
    ],
    calls: [call({ to: carol, authorizationList })],
  }))
}

/** Authorities with code, ether, a delegation, or the largest nonce. */
function authorityCases(): Parts[] {
  const states: Partial<CaseAccount>[] = [
    { balance: 1n },
    code('00'),
    code(''),
    delegationTo(halting),
    { nonce: maxNonce },
    { nonce: maxNonce - 1n },
  ]
  return states.map((fields): Parts => {
    const authorizationList = [authorize('carol', { address: storing, nonce: fields.nonce ?? 0n })]
    return {
      accounts: [[carol, fields]],
      transactions: [signedBy('alice', { type: 4, to: carol, gasLimit: 200_000n, authorizationList }), deposit({ to: carol, from: bob })],
    }
  })
}

function blockHashCases(): Parts[] {
  const word = (value: bigint): number[] => [...bytesFromBigint(value, 32)]
  return [1, 2, 255, 256, 257, 1_000, 50_000_000].map(
    (number): Parts => ({
      block: { number },
      transactions: [0, 1, 2, 255, 256, 257, number - 1, number, number + 1].map((back, slot) =>
        deposit({ to: blockHashNoter, data: Uint8Array.of(...word(BigInt(slot)), ...word(BigInt(back))), from: bob }),
      ),
    }),
  )
}

/** Operator fee and L1 fee at the limits of their parameters; the sender can pay all of them. */
function feeCases(): Parts[] {
  const rich = [[alice, { balance: 2n ** 200n }] as const]
  const prices: Partial<Prices>[] = [
    {},
    { operatorScalar: 0n, operatorConstant: 0n },
    { operatorScalar: 2n ** 32n - 1n, operatorConstant: 2n ** 64n - 1n },
    { operatorScalar: 1n, operatorConstant: 0n },
    { baseFeeScalar: 2n ** 32n - 1n, blobBaseFeeScalar: 2n ** 32n - 1n, baseFee: 2n ** 60n, blobBaseFee: 2n ** 60n },
    { baseFeeScalar: 0n, blobBaseFeeScalar: 0n },
    { blobBaseFee: 0n },
    { overhead: 0n, scalar: 0n },
    // the first Ecotone block
    { baseFeeScalar: 0n, blobBaseFeeScalar: 0n, blobBaseFee: 0n },
  ]
  const data = Uint8Array.from({ length: 700 }, (_, i) => (i * i) % 251)
  return prices.map((some) => ({
    accounts: rich,
    prices: some,
    transactions: [
      signedBy('alice', { to: storing }),
      signedBy('alice', { to: halting, data, nonce: 1n, value: 3n }),
      deposit({ to: storing, data }),
    ],
  }))
}

/** DA footprints that fill the block exactly, or exceed it by one byte. */
function footprintCases(): Parts[] {
  const data = Uint8Array.from({ length: 2_000 }, (_, i) => (i * i * i) % 253)
  const transaction = signedBy('alice', { to: storing, data, gasLimit: 200_000n })
  return [0n, 1n, 400n, 65_535n].flatMap((footprintScalar) => {
    const needed = footprintOf({ ...usualPrices, footprintScalar }, bytesOf(transaction))
    return [-1n, 0n, 1n].map(
      (off): Parts => ({
        prices: { footprintScalar },
        block: { gasLimit: needed + off > 2_000_000n ? needed + off : 2_000_000n },
        transactions: [
          transaction,
          signedBy('bob', { to: storing, gasLimit: 100_000n }),
          deposit({ to: storing, data, gasLimit: 100_000n }),
        ],
      }),
    )
  })
}

/** Inputs of precompiles, called directly under every fork; before its fork a precompile's address has no account. */
const precompileCases = (_fork: OracleFork, { precompileInputs }: Corpus): Parts[] =>
  [...precompileInputs].map(([address, inputs]) => {
    const to = parseAddress(`0x${address.toString(16).padStart(40, '0')}`)
    return { transactions: inputs.slice(0, 4).map((data) => deposit({ to, data, gasLimit: 2_000_000n })) }
  })

/** Address, bytes of one point or pair, and the limits of all forks in bytes: points at infinity up to the limit, and one more. */
const inputLimits = [
  [8, 192, [112_687, 81_984]],
  [0x0c, 160, [513_760, 288_960]],
  [0x0e, 288, [488_448, 278_784]],
  [0x0f, 384, [235_008, 156_672]],
] as const

const inputLimitCases = (): Parts[] =>
  inputLimits.flatMap(([address, unit, limits]) =>
    limits.flatMap((limit) => {
      const fits = limit - (limit % unit)
      const to = parseAddress(`0x${address.toString(16).padStart(40, '0')}`)
      return [fits, fits + unit].map((size) => ({ transactions: [deposit({ to, data: new Uint8Array(size), gasLimit: 50_000_000n })] }))
    }),
  )

/** Recipients of the fees: a vault, the sender, a contract, an absent account. */
const beneficiaryCases = (): Parts[] =>
  [l1FeeVault, alice, storing, addressOf(0xcc)].map((beneficiary) => ({
    block: { beneficiary },
    transactions: [signedBy('alice', { to: storing }), signedBy('bob', { to: halting, maxPriorityFeePerGas: 0n })],
  }))

type Make = (fork: OracleFork, corpus: Corpus) => readonly Parts[]

const groups: Readonly<Record<string, Make>> = {
  'initcode at the limit of EIP-3860': () => initcodeSizes.map((size) => allWays(creation(size))),
  'gas at the price of the bytes and at the floor': boundsCases,
  'gas at the cap of EIP-7825': capCases,
  'gas at what the block has left': blockGasCases,
  'nonces at the largest': nonceCases,
  'senders with code': codeCases,
  'balances at the cost': balanceCases,
  'prices at the base fee': priceCases,
  'chain ids': chainCases,
  'authorization lists': authorizationCases,
  'authorities of each kind': authorityCases,
  'BLOCKHASH at the ends of its reach': blockHashCases,
  'L1 fee and operator fee at the ends of their parameters': feeCases,
  'DA footprint at the limit of the block': footprintCases,
  'beneficiaries of each kind': beneficiaryCases,
  'inputs of precompiles': precompileCases,
  'inputs of precompiles at their limits': inputLimitCases,
}

export type TargetedCase = { readonly about: string; readonly given: BlockCase }

/** True for cases that `npm test` checks: all of the newest fork, and the first of each kind under every fork. */
export const isInSample = ({ about, given }: TargetedCase): boolean => given.fork === 'azul' || / 0 \(/.test(about)

/** Returns all targeted cases. */
export const targetedCases = (corpus: Corpus): TargetedCase[] =>
  oracleForks.flatMap((fork) =>
    Object.entries(groups).flatMap(([name, make]) =>
      make(fork, corpus).map((parts, index) => ({ about: `${name}, ${index} (${fork})`, given: caseOf(fork, parts) })),
    ),
  )
