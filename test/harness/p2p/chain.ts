import type { RollupConfig } from '#chainspec/rollupConfig'
import { keccak256 } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { hashHeader } from '#types/header'
import { type Address, addressFromBytes, emptyRoot, type Hash, zeroAddress, zeroHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { timestampOf } from '../../../src/chainspec/blockTime.ts'
import { headerOfPayload } from '../../../src/engine/payloadHeader.ts'
import { encodeBody, joinEnvelope, signingHash } from '../../../src/p2p/protocol/envelope.ts'
import { blockVersionAt } from '../../../src/p2p/protocol/topics.ts'
import type { SignedBlock } from '../../../src/p2p/thread/protocol.ts'
import { readPeerSample } from './recordings.ts'

export const sequencerKey: Uint8Array = keccak256(Uint8Array.of(1))
export const sequencer: Address = addressFromBytes(addressOfKey(sequencerKey))

/** Returns a config under Isthmus whose block `number` is due now. */
export function configNow(number: number, nowMs: number): RollupConfig {
  const base = readPeerSample()[0]?.config
  if (base === undefined) throw new Error('empty sample')
  const { denim: _, ...past } = Object.fromEntries(Object.keys(base.schedule).map((fork) => [fork, 1]))
  return {
    ...base,
    schedule: { ...past, jovian: undefined, azul: undefined } as unknown as RollupConfig['schedule'],
    genesis: { ...base.genesis, l2TimeSec: Math.floor(nowMs / 1_000) - number * base.blockTimeSec },
  }
}

/** Returns a block with a right hash; `salt` makes different ones of a height. */
export function blockOf(
  config: RollupConfig,
  number: number,
  parentHash: Hash = zeroHash,
  salt = 0,
  transactions: readonly Uint8Array[] = [],
): Payload {
  const unhashed: Payload = {
    parentHash,
    feeRecipient: zeroAddress,
    stateRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(256),
    prevRandao: zeroHash,
    blockNumber: number,
    gasLimit: 30_000_000n,
    gasUsed: BigInt(salt),
    timestamp: timestampOf(config, number),
    extraData: new Uint8Array(9),
    baseFeePerGas: 7n,
    blockHash: zeroHash,
    transactions,
    withdrawals: [],
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    withdrawalsRoot: emptyRoot,
    parentBeaconBlockRoot: zeroHash,
  }
  return { ...unhashed, blockHash: hashHeader(headerOfPayload(config.schedule, unhashed)) }
}

/** Returns linked blocks. */
export function chainOf(config: RollupConfig, from: number, count: number): readonly Payload[] {
  const blocks: Payload[] = []
  for (let i = 0; i < count; i++) blocks.push(blockOf(config, from + i, blocks.at(-1)?.blockHash))
  return blocks
}

export function signBlock(config: RollupConfig, payload: Payload, key: Uint8Array = sequencerKey): SignedBlock {
  const version = blockVersionAt(config.schedule, payload.timestamp)
  const body = encodeBody(payload, version)
  return { version, message: joinEnvelope(signDigest(signingHash(config.l2ChainId, body), key), body) }
}
