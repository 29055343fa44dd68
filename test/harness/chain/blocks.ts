import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { depositorAccount, l1BlockAddress } from '#chainspec/addresses'
import { type Fork, type ForkSchedule, forks, isActive } from '#chainspec/forks'
import type { Genesis } from '#chainspec/genesis'
import { encodeL1AttributesData, type L1Attributes, l1AttributesFormat } from '#chainspec/l1Info'
import { bigintFromBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { encodeDeposit } from '#types/deposit'
import { type Address, addressFromBytes, type Hash, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { encodeTransaction, type FeeMarketTransaction, type SignedTransaction, signingDigest } from '#types/transaction'
import { testAccount, testAddress } from '../evm/sessions.ts'

export const chainStart = 1_000_000

/** Schedule with all forks up to the given one active at genesis, and the `later` ones at their times. */
export function scheduleTo(last: Fork, later: ForkSchedule = {}): ForkSchedule {
  const early = forks.slice(0, forks.indexOf(last) + 1).map((fork) => [fork, 0])
  return { ...Object.fromEntries(early), ...later }
}

export const hashOf = (text: string): Hash => hashFromBytes(keccak256Text(text))
/** Private key of a named account. */
export const keyOf = (name: string): Uint8Array => keccak256Text(name)
/** Address of a named account; its key is derived from the name. */
export const accountOf = (name: string): Address => addressFromBytes(addressOfKey(keyOf(name)))

/** Genesis with a few accounts; alice and bob have 1 ETH each. L1Block has no code, so that L1 fees are zero. */
export function smallGenesis(schedule: ForkSchedule, extra: Genesis['accounts'] = []): Genesis {
  const isHolocene = isActive(schedule, 'holocene', chainStart)
  const isJovian = isActive(schedule, 'jovian', chainStart)
  const rich = ['alice', 'bob'].map((name) => testAccount(accountOf(name), { balance: 10n ** 18n }))
  return {
    header: {
      number: 0,
      parentHash: zeroHash,
      beneficiary: zeroAddress,
      difficulty: 0n,
      gasLimit: 30_000_000n,
      gasUsed: 0n,
      timestamp: chainStart,
      extraData: new Uint8Array(
        isJovian ? [1, 0, 0, 0, 50, 0, 0, 0, 6, ...new Uint8Array(8)] : isHolocene ? [0, 0, 0, 0, 50, 0, 0, 0, 6] : [],
      ),
      mixHash: zeroHash,
      nonce: new Uint8Array(8),
      baseFeePerGas: 1_000n,
    },
    accounts: [...rich, ...extra],
    chain: { chainId: 901, schedule, eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 } },
  }
}

export const smallChain = (schedule: ForkSchedule, extra: Genesis['accounts'] = []): { genesis: Genesis; config: ExecutionConfig } => {
  const genesis = smallGenesis(schedule, extra)
  return { genesis, config: configOfGenesis(genesis) }
}

const attributesInfo: Omit<L1Attributes, 'format' | 'sequenceNumber'> = {
  number: 1,
  timestamp: chainStart,
  baseFee: 7n,
  hash: hashOf('L1 origin'),
  batcher: testAddress(0xba),
  overhead: 0n,
  scalar: 0n,
  baseFeeScalar: 0,
  blobBaseFeeScalar: 0,
  blobBaseFee: 1n,
  operatorFeeScalar: 0,
  operatorFeeConstant: 0n,
  daFootprintGasScalar: 400,
}

/** L1 attributes transaction of a block. */
function l1Attributes(schedule: ForkSchedule, timestamp: number, sequenceNumber: number): Uint8Array {
  const format = l1AttributesFormat(schedule, timestamp - 2, timestamp)
  const isRegolith = isActive(schedule, 'regolith', timestamp)
  return encodeDeposit({
    type: 0x7e,
    sourceHash: hashOf(`attributes ${timestamp} ${sequenceNumber}`),
    from: depositorAccount,
    to: l1BlockAddress,
    mint: 0n,
    value: 0n,
    gasLimit: 1_000_000n,
    isSystemTransaction: !isRegolith,
    data: encodeL1AttributesData({ ...attributesInfo, format, sequenceNumber }),
  })
}

/** Attributes of the block at a time, with 2 s per block. `branch` makes siblings differ. */
export function attributesAt(
  schedule: ForkSchedule,
  number: number,
  transactions: readonly Uint8Array[] = [],
  branch = 0,
): PayloadAttributes {
  const timestamp = chainStart + 2 * number
  const isAt = (fork: Fork): boolean => isActive(schedule, fork, timestamp)
  return {
    timestamp,
    prevRandao: hashOf(`randao ${number}`),
    suggestedFeeRecipient: testAddress(0xfe),
    ...(isAt('canyon') && { withdrawals: [] }),
    ...(isAt('ecotone') && { parentBeaconBlockRoot: hashOf(`beacon ${number}`) }),
    transactions: [l1Attributes(schedule, timestamp, number + 1_000 * branch), ...transactions],
    noTxPool: true,
    gasLimit: 30_000_000n,
    ...(isAt('holocene') && { eip1559Params: new Uint8Array(8) }),
    ...(isAt('jovian') && { minBaseFee: 0n }),
  }
}

/** Fee-market transaction signed by a named account. */
export function signedBy(name: string, fields: Partial<FeeMarketTransaction>): Uint8Array {
  const unsigned: FeeMarketTransaction = {
    type: 2,
    chainId: 901n,
    nonce: 0n,
    maxFeePerGas: 10_000n,
    maxPriorityFeePerGas: 1n,
    gasLimit: 21_000n,
    to: testAddress(0x77),
    value: 1n,
    data: new Uint8Array(0),
    accessList: [],
    yParity: 0,
    r: 0n,
    s: 0n,
    ...fields,
  }
  return encodeTransaction(signed(unsigned, name))
}

/** Returns the transaction with the signature of a named account. */
export function signed<T extends SignedTransaction>(tx: T, name: string): T {
  const { signature, yParity } = signDigest(signingDigest(tx), keyOf(name))
  return { ...tx, yParity, r: bigintFromBytes(signature.subarray(0, 32)), s: bigintFromBytes(signature.subarray(32)) }
}
