import type { Header } from './header.ts'
import { addressField, bigintField, bytesField, has, hashField, type Json, numberField } from './jsonShape.ts'

/** The header in an `eth_getBlockBy…` answer, without what this version does not know. ShapeError when it is none. */
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
