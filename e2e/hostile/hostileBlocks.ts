import { rpcCall } from '#test/harness/process/cliProcess'
import type { RollupConfig } from '../../src/chainspec/rollupConfig.ts'
import { payloadOfBlockJson } from '../../src/engine/blockJson.ts'
import { headerOfPayload } from '../../src/engine/payloadHeader.ts'
import { encodePayload } from '../../src/engine/payloadJson.ts'
import { fromHex, toHex, toQuantity } from '../../src/lib/hex.ts'
import { keccak256 } from '../../src/lib/keccak.ts'
import { type Deposit, encodeDeposit } from '../../src/types/deposit.ts'
import { hashHeader } from '../../src/types/header.ts'
import { parseAddress, parseHash } from '../../src/types/ids.ts'
import type { Payload } from '../../src/types/payload.ts'

/** JUMPDEST, PUSH1 0, JUMP: runs until its gas ends. */
const endlessLoop = '0x5b600056'
const hugeGas = 2n ** 62n

/** A creation whose code loops. No signature protects it: only L1 can vouch for a deposit. */
export const loopingDeposit: Deposit = {
  type: 0x7e,
  sourceHash: parseHash(`0x${'13'.repeat(32)}`),
  from: parseAddress(`0x${'66'.repeat(20)}`),
  to: null,
  mint: 0n,
  value: 0n,
  gasLimit: hugeGas - 1_000_000n,
  isSystemTransaction: false,
  data: fromHex(endlessLoop),
}

export const loopingDepositHex = toHex(encodeDeposit(loopingDeposit))

/** A block that loops, with the hash that its fields give, on top of a real one. */
export type HostileBlock = {
  /** as `eth_getBlockByNumber` with whole transactions returns it */
  readonly json: Readonly<Record<string, unknown>>
  /** parameters of `engine_newPayloadV4` */
  readonly newPayload: readonly unknown[]
  /** parameter of `admin_postUnsafePayload` */
  readonly envelope: Readonly<Record<string, unknown>>
}

/** Builds a looping block on top of the chain's latest. */
export async function hostileBlock(config: RollupConfig, url: string): Promise<HostileBlock> {
  const real = (await rpcCall(url, 'eth_getBlockByNumber', ['latest', true])) as Record<string, unknown>
  const parent = payloadOfBlockJson(real)
  const [attributes] = parent.transactions
  if (attributes === undefined) throw new Error('the latest block has no transactions')
  const transactions = [attributes, encodeDeposit(loopingDeposit)]
  const timestamp = parent.timestamp + config.blockTimeSec
  const child: Payload = {
    ...parent,
    parentHash: parent.blockHash,
    blockNumber: parent.blockNumber + 1,
    timestamp,
    gasLimit: hugeGas,
    transactions,
  }
  const header = headerOfPayload(config.schedule, child)
  const payload = { ...child, blockHash: hashHeader(header) }
  const executionPayload = encodePayload(payload)
  const { parentBeaconBlockRoot } = payload
  const place = { blockHash: payload.blockHash, blockNumber: toQuantity(payload.blockNumber) }
  const [first] = real['transactions'] as readonly Record<string, unknown>[]
  const second = {
    ...{
      type: '0x7e',
      sourceHash: loopingDeposit.sourceHash,
      from: loopingDeposit.from,
      to: null,
      mint: '0x0',
      value: '0x0',
      gasPrice: '0x0',
    },
    ...{ gas: toQuantity(loopingDeposit.gasLimit), input: endlessLoop, nonce: '0x0', v: '0x0', r: '0x0', s: '0x0', isSystemTx: false },
    ...{ ...place, hash: toHex(keccak256(encodeDeposit(loopingDeposit))), transactionIndex: '0x1' },
  }
  const json = {
    ...real,
    ...{ hash: payload.blockHash, parentHash: payload.parentHash, number: place.blockNumber, timestamp: toQuantity(timestamp) },
    ...{
      gasLimit: toQuantity(hugeGas),
      transactionsRoot: toHex(fromHex(header.transactionsRoot)),
      transactions: [{ ...first, ...place }, second],
    },
  }
  return {
    json,
    newPayload: [executionPayload, [], parentBeaconBlockRoot, []],
    envelope: { executionPayload, ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }) },
  }
}
