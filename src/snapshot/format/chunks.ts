import type { GivenBlock } from '#blockchain/base/baseBlocks'
import { bigintFromBytes, emptyBytes } from '#lib/bytes'
import { encodeRlp, RlpError, type RlpItem, rlpHead, splitRlpList } from '#lib/rlp'
import { decodeHeader, encodeHeader } from '#types/header'
import { ByteReader, type ByteWriter, FormatError } from './byteReader.ts'

/*
 * Contents of chunks before compression; integers are big-endian.
 *   accounts  for each account, ascending: key (32) ++ flags u8 ++ nonce ++ balance ++ [code hash (32)] ++ [storage root (32)] or [count u32 ++ slots]
 *   slots     slots of one account, ascending
 *   slot      key (32) ++ length of the value u8 ++ value without leading zeros
 *   codes     for each code: length u32 ++ code
 *   top       for each trie node: length u32 ++ RLP
 *   blocks    RLP of a list of [header, transactions or empty, receipts or empty]
 *   values    for each block, ascending: length u32 ++ its accounts and slots before it (proofs/valueRow.ts)
 * Nonce and balance: length u8 ++ bytes without leading zeros. Older blocks are in segment files (store/segments/segmentFormat.ts).
 */
const hasCode = 1
/** The slots follow in chunks of their own. */
const hasSlotChunks = 2
const hasSlots = 4

/** Blocks of a chunk: more than `create` writes. */
const mostBlocks = 2 ** 15
/** Blocks of a chunk of values: more than `create` writes. */
const mostValueRows = 2 ** 15
/** Bytes of the values of a block that changes nothing. */
const leastValueBytes = 4
/** Bytes of a header, with room for later fields. */
const mostHeaderBytes = 4_096
/** Bytes of a transaction or receipt: all of them are longer. */
const leastEntryBytes = 32

export type SlotRecord = { readonly key: Uint8Array; readonly value: Uint8Array }

/** An account of a chunk. `slots`: those in the chunk. `storageRoot`: of slots in chunks of their own. */
export type AccountRecord = {
  readonly key: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array | undefined
  readonly storageRoot: Uint8Array | undefined
  readonly slots: Iterable<SlotRecord>
}

function putScalar(out: ByteWriter, bytes: Uint8Array): void {
  out.byte(bytes.length)
  out.bytes(bytes)
}

export function putSlot(out: ByteWriter, key: Uint8Array, value: Uint8Array): void {
  out.bytes(key)
  putScalar(out, value)
}

/** Appends an account without its slots. @param slotBytes of `putSlot`; absent: none, or in chunks of their own */
export function putAccount(
  out: ByteWriter,
  {
    key,
    nonce,
    balance,
    codeHash,
    storageRoot,
  }: Omit<AccountRecord, 'slots' | 'nonce' | 'balance'> & { readonly nonce: Uint8Array; readonly balance: Uint8Array },
  slots: { readonly count: number; readonly bytes: Uint8Array } | undefined,
): void {
  out.bytes(key)
  out.byte((codeHash ? hasCode : 0) | (storageRoot ? hasSlotChunks : 0) | (slots ? hasSlots : 0))
  putScalar(out, nonce)
  putScalar(out, balance)
  if (codeHash) out.bytes(codeHash)
  if (storageRoot) out.bytes(storageRoot)
  if (slots) {
    out.u32(slots.count)
    out.bytes(slots.bytes)
  }
}

function takeScalar(reader: ByteReader, most: number): bigint {
  const length = reader.byte()
  const bytes = reader.take(length)
  if (length > most || bytes[0] === 0) throw new FormatError(`it has an integer of ${length} bytes`)
  return bigintFromBytes(bytes)
}

function takeSlot(reader: ByteReader): SlotRecord {
  return { key: reader.take(32), value: reader.take(reader.byte()) }
}

/** Iterates over the accounts of a chunk. Slots that the caller leaves are skipped. @throws FormatError */
export function* accountsIn(raw: Uint8Array): Generator<AccountRecord> {
  const reader = new ByteReader(raw)
  while (!reader.isDone) {
    const key = reader.take(32)
    const flags = reader.byte()
    if (flags > 7 || (flags & hasSlotChunks && flags & hasSlots)) throw new FormatError(`it has an account with flags ${flags}`)
    const [nonce, balance] = [takeScalar(reader, 8), takeScalar(reader, 32)]
    const codeHash = flags & hasCode ? reader.take(32) : undefined
    const storageRoot = flags & hasSlotChunks ? reader.take(32) : undefined
    const slots = slotsOf(reader, flags & hasSlots ? reader.u32() : 0)
    yield { key, nonce, balance, codeHash, storageRoot, slots }
    for (const _ of slots);
  }
}

function* slotsOf(reader: ByteReader, count: number): Generator<SlotRecord> {
  for (let left = count; left > 0; left--) yield takeSlot(reader)
}

/** Appends a code, a trie node, or the values of a block. */
export function putBlob(out: ByteWriter, blob: Uint8Array): void {
  out.u32(blob.length)
  out.bytes(blob)
}

/** Iterates over such parts of a chunk. @throws FormatError */
export function* blobsIn(raw: Uint8Array): Generator<Uint8Array> {
  const reader = new ByteReader(raw)
  while (!reader.isDone) yield reader.take(reader.u32())
}

/** Returns the rows of a chunk of values, one of each block. Memory: a small multiple of the bytes, whatever they are. @throws FormatError */
export function valueRowsOf(raw: Uint8Array): Uint8Array[] {
  const rows: Uint8Array[] = []
  for (const row of blobsIn(raw)) {
    if (row.length < leastValueBytes) throw new FormatError(`it has values of ${row.length} bytes`)
    if (rows.length === mostValueRows) throw new FormatError(`it has values of more than ${mostValueRows} blocks`)
    rows.push(row)
  }
  return rows
}

export function encodeBlocks(blocks: readonly GivenBlock[]): Uint8Array {
  return encodeRlp(
    blocks.map(
      ({ header, transactions, receipts }): RlpItem => [
        encodeHeader(header),
        transactions ? [transactions] : [],
        receipts ? [receipts] : [],
      ],
    ),
  )
}

/** Decodes blocks. Memory: a small multiple of the bytes, whatever they are. @throws RlpError */
export function decodeBlocks(raw: Uint8Array): GivenBlock[] {
  return splitRlpList(raw, mostBlocks, 'blocks').map((block) => {
    const [header, transactions, receipts] = splitRlpList(block, 3, 'block')
    return { header: decodeHeader(bytesIn(header, mostHeaderBytes)), transactions: listIn(transactions), receipts: listIn(receipts) }
  })
}

/** Decodes transactions or receipts; undefined: the block is without them. */
function listIn(part: Uint8Array | undefined): readonly Uint8Array[] | undefined {
  const [list] = splitRlpList(part ?? emptyBytes, 1, 'part')
  return list && splitRlpList(list, Math.floor(list.length / leastEntryBytes), 'list').map((entry) => bytesIn(entry, entry.length))
}

/** Returns a copy of a byte string. */
function bytesIn(item: Uint8Array | undefined, most: number): Uint8Array {
  const bytes = item ?? emptyBytes
  const { isList, from, to } = rlpHead(bytes, 0)
  if (isList || to - from > most) throw new RlpError(`a string of at most ${most} bytes is expected`)
  return bytes.slice(from, to)
}

/** Returns whether a key begins with nibbles. */
export function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((nibble, at) => (((key[at >> 1] ?? 0) >> (at & 1 ? 0 : 4)) & 15) === nibble)
}
