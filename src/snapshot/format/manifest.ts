import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { blockTables, type SegmentRecord, segmentFileName } from '#store/segments/segmentRecords'
import type { Hash } from '#types/ids'
import { snapshotFault } from '../faults.ts'

/** Formats of snapshots that this version writes and reads. */
export const snapshotFormat = 'basalt-snapshot-2'
export const manifestName = 'manifest.json'
export const flavours = ['minimal', 'full', 'archive', 'proofs'] as const
export type Flavour = (typeof flavours)[number]
const kinds = ['top', 'blocks', 'codes', 'accounts', 'slots', 'segment', 'values'] as const

/** A chunk of a snapshot: a file, named by its hash. A segment file of older blocks has the bytes and the name that it has in a store. */
export type ChunkEntry = {
  readonly kind: (typeof kinds)[number]
  /** SHA-256 of the file in hex */
  readonly name: string
  readonly size: number
  /** size of its content, or of the rows of a segment, before compression */
  readonly rawSize: number
  /** nibbles, as hex digits, with which the keys begin, and no other key does; absent: the chunk cannot be verified by itself */
  readonly prefix?: string
  /** key of the account of slots, in hex */
  readonly account?: string
  /** number of the first block of a segment, or of values */
  readonly first?: number
  /** number of the last block of a segment */
  readonly last?: number
  /** table of the rows of a segment */
  readonly table?: string
}

/** Parts of a snapshot, in the order in which they are loaded. */
export type Manifest = {
  readonly format: typeof snapshotFormat
  readonly chainId: number
  /** hash of the first block of the chain */
  readonly genesis: Hash
  readonly flavour: Flavour
  readonly block: { readonly number: number; readonly hash: Hash; readonly stateRoot: Hash; readonly timestamp: number }
  readonly accounts: number
  readonly slots: number
  readonly codes: number
  /** bytes of keys and values of accounts, slots and codes */
  readonly bytes: number
  /** nibbles of the prefixes of account chunks */
  readonly accountDepth: number
  readonly chunks: readonly ChunkEntry[]
}

/** Returns whether snapshots of a flavour have values of older blocks. */
export const hasValues = ({ flavour }: Pick<Manifest, 'flavour'>): boolean => flavour === 'archive' || flavour === 'proofs'

/** A manifest whose signature is verified. `file`: its bytes; `id`: SHA-256 of what is signed. */
export type SignedManifest = { readonly manifest: Manifest; readonly file: Uint8Array; readonly id: string; readonly signer: string }

/** Bounds of the values in a manifest. */
export const bounds = {
  manifestBytes: 256 * 2 ** 20,
  chunks: 2 ** 20,
  chunkBytes: 256 * 2 ** 20,
  /** of a chunk of blocks or of values: at least four times what `create` writes */
  cutChunkBytes: 64 * 2 ** 20,
  /** of a segment: at least twice the bound of `usualBounds`, which the last row of a file may exceed */
  segmentBytes: 2 ** 30,
  /** blocks of a segment: twice the bound of `usualBounds` */
  segmentBlocks: 16_384,
  /** contents of all chunks of kinds that a restore holds in memory: the blocks of two hours, the trie nodes above all chunks */
  heldBytes: { blocks: 4 * 2 ** 30, top: 256 * 2 ** 20 },
}

/** Returns the name of the file of a chunk. */
export function fileOf({ name, table, first = 0 }: Pick<ChunkEntry, 'name' | 'table' | 'first'>): string {
  return table === undefined ? `${name}.zst` : segmentFileName({ table: tableOf(table), first, digest: name })
}

/** Returns the id of a table of blocks. @throws RangeError for another name */
export function tableOf(name: string): number {
  const table = blockTables.find((each) => each.name === name)
  if (table === undefined) throw new RangeError(`no table of blocks is ${name}`)
  return table.id
}

/** Returns the entry of a segment file. */
export const entryOf = ({ table, first, last, digest, fileBytes, rowBytes }: SegmentRecord): ChunkEntry => ({
  ...{ kind: 'segment', name: digest, size: fileBytes, rawSize: rowBytes, first, last },
  table: blockTables.find(({ id }) => id === table)?.name ?? '',
})

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

const rawKey = (key: KeyObject): string => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')

/** Returns the file of a manifest, signed with an ed25519 key. */
export function signManifest(manifest: Manifest, key: KeyObject): { readonly file: string; readonly id: string; readonly signer: string } {
  const text = JSON.stringify(manifest)
  const signature = sign(null, Buffer.from(text), key).toString('hex')
  const signer = rawKey(createPublicKey(key))
  return { file: `${JSON.stringify({ signer, signature, manifest: text })}\n`, id: sha256(text), signer }
}

const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value)
const isCount = (value: unknown, most = Number.MAX_SAFE_INTEGER): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
const hex32 = /^[0-9a-f]{64}$/
const hash32 = /^0x[0-9a-f]{64}$/

/**
 * Parses the file of a manifest and verifies its signature, by the key in the file: who signed it is for the caller to judge.
 * @throws Fault MANIFEST_BAD (fatal)
 */
export function parseManifest(file: Uint8Array, place: string): SignedManifest {
  const bad = (reason: string): Error => snapshotFault('MANIFEST_BAD', { place, reason })
  const outer = jsonOf(Buffer.from(file).toString('utf8')) as { signer?: unknown; signature?: unknown; manifest?: unknown } | undefined
  if (!outer || !isText(outer.signer, hex32) || !isText(outer.signature, /^[0-9a-f]{128}$/) || typeof outer.manifest !== 'string') {
    throw bad('it is not a signed manifest')
  }
  const { signer, signature, manifest: text } = outer
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(signer, 'hex').toString('base64url') }, format: 'jwk' })
  if (!verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))) throw bad('its signature is wrong')
  const manifest = jsonOf(text) as Manifest | undefined
  if (manifest?.format !== snapshotFormat)
    throw bad(`its format is ${String(manifest?.format).slice(0, 40)}, and this version reads ${snapshotFormat}`)
  const problem = problemOf(manifest)
  if (problem) throw bad(problem)
  return { manifest, file, id: sha256(text), signer }
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function problemOf({
  chainId,
  genesis,
  flavour,
  block,
  accounts,
  slots,
  codes,
  bytes,
  accountDepth,
  chunks,
}: Manifest): string | undefined {
  if (![chainId, accounts, slots, codes, bytes, accountDepth, block?.number, block?.timestamp].every((value) => isCount(value)))
    return 'a number in it is bad'
  if (![genesis, block.hash, block.stateRoot].every((hash) => isText(hash, hash32))) return 'a hash in it is bad'
  if (!flavours.includes(flavour)) return 'its flavour is unknown'
  if (!Array.isArray(chunks) || chunks.length > bounds.chunks) return 'its list of chunks is bad'
  if (chunks.some((chunk: ChunkEntry) => chunk?.kind === 'values') !== hasValues({ flavour }))
    return 'its chunks are not those of its flavour'
  const index = (chunks as readonly ChunkEntry[]).findIndex((chunk) => !(chunk && isSound(chunk)))
  if (index >= 0) return `chunk ${index} in it is bad`
  const held = (['blocks', 'top'] as const).find((kind) => rawBytes(chunks, kind) > bounds.heldBytes[kind])
  return held && `its chunks of kind ${held} have more than ${bounds.heldBytes[held]} bytes`
}

/** Returns the bytes of the contents of all chunks of a kind. */
export const rawBytes = (chunks: readonly ChunkEntry[], kind: ChunkEntry['kind']): number =>
  chunks.reduce((sum, chunk) => sum + (chunk.kind === kind ? chunk.rawSize : 0), 0)

const mostBytes: Readonly<Partial<Record<ChunkEntry['kind'], number>>> = {
  blocks: bounds.cutChunkBytes,
  values: bounds.cutChunkBytes,
  segment: bounds.segmentBytes,
}

function isSound({ kind, name, size, rawSize, prefix, account, first, last, table }: ChunkEntry): boolean {
  const most = mostBytes[kind] ?? bounds.chunkBytes
  const isWhole = kinds.includes(kind) && isText(name, hex32) && isCount(size, most) && isCount(rawSize, most)
  const isPlaced = prefix === undefined || isText(prefix, /^[0-9a-f]{0,64}$/)
  const isNumbered = kind === 'segment' || kind === 'values' ? isCount(first) : first === undefined
  const isRange =
    isCount(last) && last >= (first ?? 0) && last - (first ?? 0) < bounds.segmentBlocks && blockTables.some((each) => each.name === table)
  const isSegment = kind === 'segment' ? isRange : last === undefined && table === undefined
  return isWhole && isPlaced && isNumbered && isSegment && (kind === 'slots' ? isText(account, hex32) : account === undefined)
}

export const nibblesOfText = (prefix: string): Uint8Array => Uint8Array.from(prefix, (digit) => Number.parseInt(digit, 16))
