import type { Header } from '#types/header'
import { emptyOmmersHash, emptyRoot, zeroAddress, zeroHash } from '#types/ids'

/** Header of an empty block, with the given fields. */
export function headerOf(fields: Partial<Header>): Header {
  return {
    parentHash: zeroHash,
    ommersHash: emptyOmmersHash,
    beneficiary: zeroAddress,
    stateRoot: emptyRoot,
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number: 1,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_700_000_000,
    extraData: new Uint8Array(),
    mixHash: zeroHash,
    nonce: new Uint8Array(8),
    baseFeePerGas: 1_000_000_000n,
    ...fields,
  }
}
