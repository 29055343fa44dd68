import { toHex, toQuantity } from '#lib/hex'
import type { Header } from './header.ts'
import type { Hash } from './ids.ts'
import { addressField, bigintField, bytesField, has, hashField, type Json, numberField } from './jsonShape.ts'

/** Parses the header fields of an `eth_getBlockBy…` result; unknown fields are ignored. Throws ShapeError when a field is missing or malformed. */
export function headerFromJson(json: Json): Header {
  return {
    parentHash: hashField(json, 'parentHash'),
    ommersHash: hashField(json, 'sha3Uncles'),
    beneficiary: addressField(json, 'miner'),
    stateRoot: hashField(json, 'stateRoot'),
    transactionsRoot: hashField(json, 'transactionsRoot'),
    receiptsRoot: hashField(json, 'receiptsRoot'),
    logsBloom: bytesField(json, 'logsBloom'),
    difficulty: bigintField(json, 'difficulty'),
    number: numberField(json, 'number'),
    gasLimit: bigintField(json, 'gasLimit'),
    gasUsed: bigintField(json, 'gasUsed'),
    timestamp: numberField(json, 'timestamp'),
    extraData: bytesField(json, 'extraData'),
    mixHash: hashField(json, 'mixHash'),
    nonce: bytesField(json, 'nonce'),
    ...(has(json, 'baseFeePerGas') && { baseFeePerGas: bigintField(json, 'baseFeePerGas') }),
    ...(has(json, 'withdrawalsRoot') && { withdrawalsRoot: hashField(json, 'withdrawalsRoot') }),
    ...(has(json, 'blobGasUsed') && { blobGasUsed: bigintField(json, 'blobGasUsed') }),
    ...(has(json, 'excessBlobGas') && { excessBlobGas: bigintField(json, 'excessBlobGas') }),
    ...(has(json, 'parentBeaconBlockRoot') && { parentBeaconBlockRoot: hashField(json, 'parentBeaconBlockRoot') }),
    ...(has(json, 'requestsHash') && { requestsHash: hashField(json, 'requestsHash') }),
  }
}

/** Formats a header for the result of `eth_getBlockBy…`; fields of later forks are absent before the fork. */
export function headerToJson(hash: Hash, header: Header): Record<string, string> {
  return {
    hash,
    parentHash: header.parentHash,
    sha3Uncles: header.ommersHash,
    miner: header.beneficiary,
    stateRoot: header.stateRoot,
    transactionsRoot: header.transactionsRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: toHex(header.logsBloom),
    difficulty: toQuantity(header.difficulty),
    number: toQuantity(header.number),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: toHex(header.extraData),
    mixHash: header.mixHash,
    nonce: toHex(header.nonce),
    ...(header.baseFeePerGas !== undefined && { baseFeePerGas: toQuantity(header.baseFeePerGas) }),
    ...(header.withdrawalsRoot !== undefined && { withdrawalsRoot: header.withdrawalsRoot }),
    ...(header.blobGasUsed !== undefined && { blobGasUsed: toQuantity(header.blobGasUsed) }),
    ...(header.excessBlobGas !== undefined && { excessBlobGas: toQuantity(header.excessBlobGas) }),
    ...(header.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: header.parentBeaconBlockRoot }),
    ...(header.requestsHash !== undefined && { requestsHash: header.requestsHash }),
  }
}
