import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { type Header, hashHeader } from '#types/header'
import { emptyRequestsHash, type Hash, hashFromBytes } from '#types/ids'
import { headerOf } from '../chain/headers.ts'

const filled = (byte: number): Hash => hashFromBytes(new Uint8Array(32).fill(byte))

/** Returns linked L2 headers `from` to `to`, five a second, each with a state root and a withdrawals root, without transactions. */
export function l2Headers(from: number, to: number, timestamp: number, stateRoot = filled(0x51)): readonly Header[] {
  const headers: Header[] = []
  for (let number = from; number <= to; number++) {
    const last = headers.at(-1)
    headers.push(
      headerOf({
        number,
        timestamp: timestamp + Math.floor((number - from) / 5),
        parentHash: last ? hashHeader(last) : filled(0x50),
        stateRoot,
        withdrawalsRoot: filled(0x52),
        blobGasUsed: 0n,
        excessBlobGas: 0n,
        parentBeaconBlockRoot: filled(0x53),
        requestsHash: emptyRequestsHash,
      }),
    )
  }
  return headers
}

/** Returns the output root of a header of Isthmus or later. */
export function outputRootOf(header: Header): Hash {
  const { stateRoot, withdrawalsRoot } = header
  if (withdrawalsRoot === undefined) throw new RangeError('header without withdrawals root')
  return l2OutputRoot({ stateRoot, messagePasserStorageRoot: withdrawalsRoot, hash: hashHeader(header) })
}
