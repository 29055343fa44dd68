import { depositorAccount, l1BlockAddress } from '#chainspec/addresses'
import { type EvmFork, hasFork } from '#chainspec/evmRules'
import { evmRulesAt } from '#chainspec/opRules'
import { bigintFromBytes, concatBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { signDigest } from '#lib/secp256k1'
import { accountOf, hashOf, keyOf, scheduleTo } from '#test/harness/chain/blocks'
import type { Deposit } from '#types/deposit'
import type { Address } from '#types/ids'
import type { Authorization, FeeMarketTransaction, SignedTransaction } from '#types/transaction'
import { type CaseTransaction, chainId } from './blockCase.ts'
import type { OracleFork } from './wire.ts'

export const people = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const
export type Person = (typeof people)[number]

export const rulesUnder = (fork: OracleFork): ReturnType<typeof evmRulesAt> => evmRulesAt(scheduleTo(fork), 0)
export const evmForkOf = (fork: OracleFork): EvmFork => rulesUnder(fork).fork
export const hasDelegations = (fork: OracleFork): boolean => hasFork(rulesUnder(fork), 'prague')

const noDeposit: Deposit = {
  type: 0x7e,
  sourceHash: hashOf('source'),
  from: accountOf('alice'),
  to: null,
  mint: 0n,
  value: 0n,
  gasLimit: 1_000_000n,
  isSystemTransaction: false,
  data: emptyBytes,
}

export const deposit = (fields: Partial<Deposit>): CaseTransaction => ({ kind: 'deposit', deposit: { ...noDeposit, ...fields } })

/** First transaction of a block. L1Block has no code in these cases, so that its slots stay unchanged. */
export const attributes: CaseTransaction = deposit({ from: depositorAccount, to: l1BlockAddress, data: fromHex('0x440a5e20') })

export type AnyFields = Partial<Omit<FeeMarketTransaction, 'type'>> & {
  readonly type?: 0 | 1 | 2 | 4
  readonly gasPrice?: bigint
  readonly authorizationList?: readonly Authorization[]
}

/** Transaction of any type, by default fee market; by default its price is 10 wei above the usual base fee of the cases. */
export function signedBy(by: string, { type = 2, ...fields }: AnyFields): CaseTransaction {
  const common = {
    chainId: BigInt(chainId),
    nonce: 0n,
    gasLimit: 1_000_000n,
    to: accountOf('bob'),
    value: 0n,
    data: emptyBytes,
    accessList: [],
    maxFeePerGas: 1_010n,
    maxPriorityFeePerGas: 5n,
    gasPrice: fields.maxFeePerGas ?? 1_010n,
    authorizationList: [],
    ...{ yParity: 0, r: 1n, s: 1n },
    ...fields,
  } as const
  // the encoding of a type omits fields that the type does not have
  return { kind: 'signed', by, tx: { ...common, type } as SignedTransaction }
}

/** Authorization signed by a named account. */
export function authorize(by: string, parts: Partial<Pick<Authorization, 'chainId' | 'address' | 'nonce'>> = {}): Authorization {
  const { chainId: id, address, nonce } = { chainId: BigInt(chainId), address: accountOf('bob') as Address, nonce: 0n, ...parts }
  const digest = keccak256(concatBytes(Uint8Array.of(5), encodeRlp([rlpScalar(id), fromHex(address), rlpScalar(nonce)])))
  const { signature, yParity } = signDigest(digest, keyOf(by))
  return {
    chainId: id,
    address,
    nonce,
    yParity,
    r: bigintFromBytes(signature.subarray(0, 32)),
    s: bigintFromBytes(signature.subarray(32)),
  }
}
