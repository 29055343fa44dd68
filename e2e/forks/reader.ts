import type { Hex } from 'viem'

export type Tx = {
  readonly hash: Hex
  readonly type: Hex
  readonly from: Hex
  readonly to: Hex | null
  readonly input: Hex
  readonly value: Hex
  readonly gas: Hex
  readonly nonce: Hex
  readonly blobVersionedHashes?: readonly Hex[]
  readonly sourceHash?: Hex
  readonly mint?: Hex
  readonly isSystemTx?: boolean
  /** from Denim on */
  readonly blockTimestampMs?: Hex
}
export type Block = {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  /** from Denim on */
  readonly timestampMs?: Hex
  readonly gasLimit: Hex
  readonly gasUsed: Hex
  readonly extraData: Hex
  readonly mixHash: Hex
  readonly baseFeePerGas: Hex
  readonly stateRoot: Hex
  readonly withdrawals?: readonly unknown[]
  readonly withdrawalsRoot?: Hex
  readonly parentBeaconBlockRoot?: Hex
  readonly blobGasUsed?: Hex
  readonly excessBlobGas?: Hex
  readonly requestsHash?: Hex
  readonly transactions: readonly Tx[]
}
export type Log = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: Hex
  readonly blockHash: Hex
  /** from Denim on */
  readonly blockTimestampMs?: Hex
}
export type Receipt = {
  readonly transactionHash: Hex
  readonly type: Hex
  readonly status: Hex
  readonly from: Hex
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  readonly contractAddress: Hex | null
  readonly logs: readonly Log[]
} & Readonly<
  Partial<
    Record<
      | 'depositNonce'
      | 'depositReceiptVersion'
      | 'l1Fee'
      | 'l1GasPrice'
      | 'l1GasUsed'
      | 'l1FeeScalar'
      | 'l1BaseFeeScalar'
      | 'l1BlobBaseFee'
      | 'l1BlobBaseFeeScalar'
      | 'operatorFeeScalar'
      | 'operatorFeeConstant'
      | 'daFootprintGasScalar'
      | 'blobGasUsed',
      Hex
    >
  >
>
export type BlockWithReceipts = { readonly block: Block; readonly receipts: readonly Receipt[] }

export type Rpc = <T>(method: string, ...params: readonly unknown[]) => Promise<T>

let id = 0

export function rpcOf(url: string): Rpc {
  return async <T>(method: string, ...params: readonly unknown[]): Promise<T> => {
    id++
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

export const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

/** Reads blocks with all their transactions and receipts. */
export async function readBlocks(rpc: Rpc, from: number, to: number): Promise<BlockWithReceipts[]> {
  const blocks: BlockWithReceipts[] = []
  for (let number = from; number <= to; number++) {
    const [block, receipts] = await Promise.all([
      rpc<Block>('eth_getBlockByNumber', quantity(number), true),
      rpc<Receipt[]>('eth_getBlockReceipts', quantity(number)),
    ])
    blocks.push({ block, receipts })
  }
  return blocks
}

/** Reads the blobs of an L1 block by their versioned hashes, from the beacon API. */
export async function readBlobs(beaconUrl: string, slot: number, hashes: readonly Hex[]): Promise<Uint8Array[]> {
  const response = await fetch(`${beaconUrl}/eth/v1/beacon/blobs/${slot}?versioned_hashes=${hashes.join(',')}`)
  const { data } = (await response.json()) as { data: readonly Hex[] }
  return data.map((blob) => Buffer.from(blob.slice(2), 'hex'))
}
