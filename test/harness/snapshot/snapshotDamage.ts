import type { KeyObject } from 'node:crypto'
import { unzstd, zstd } from '#lib/zstd'
import { bounds, type ChunkEntry, fileOf, type Manifest, manifestName, sha256, signManifest } from '#snapshot/format/manifest'
import { dice } from '#test/harness/dice'
import type { Files } from './memoryPlace.ts'

export type Roll = (below: number) => number

/** A snapshot to damage: its manifest, its files, those of an earlier snapshot of the chain, and the signer's key. */
export type SoundSnapshot = { readonly manifest: Manifest; readonly files: Files; readonly older: Files; readonly key: KeyObject }

/**
 * `place`: the files were changed on their way, or their signer lies. `oldestState`: number of the oldest block whose state the values of the manifest lead to.
 * A signer may publish fewer values than there are: that is a shorter history, and no lie.
 */
export type Damage = { readonly what: string; readonly place: 'way' | 'signer'; readonly files: Files; readonly oldestState: number }

const oldestStateIn = (chunks: readonly ChunkEntry[]): number =>
  Math.min(...chunks.flatMap(({ kind, first = 0 }) => (kind === 'values' ? [first] : []))) - 1

function flip(bytes: Uint8Array, roll: Roll): Uint8Array {
  const copy = bytes.slice()
  for (let n = 1 + roll(3); n > 0; n--) {
    const at = roll(copy.length)
    copy[at] = (copy[at] as number) ^ (1 << roll(8))
  }
  return copy
}

/** Changes bytes in one of several ways. */
export function damaged(bytes: Uint8Array, other: Uint8Array, roll: Roll): Uint8Array {
  switch (roll(6)) {
    case 0:
      return flip(bytes, roll)
    case 1:
      return bytes.slice(0, roll(bytes.length))
    case 2:
      return Buffer.concat([bytes, bytes.subarray(0, 1 + roll(64))])
    case 3:
      return other.slice()
    case 4: {
      const at = roll(bytes.length)
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + roll(40))])
    }
    default: {
      const copy = bytes.slice()
      copy.fill(roll(256), roll(copy.length))
      return copy
    }
  }
}

const pick = <T>(list: readonly T[], roll: Roll): T => list[roll(list.length)] as T
const signed = (manifest: Manifest, key: KeyObject): Uint8Array => Buffer.from(signManifest(manifest, key).file)
const entryOf = (chunks: readonly ChunkEntry[], at: number): ChunkEntry => chunks[at] as ChunkEntry

/** A file of the snapshot is damaged on its way. */
export function onTheWay({ manifest: { chunks }, files, older }: SoundSnapshot, roll: Roll): Damage {
  const names = [...files.keys()].filter((file) => !file.startsWith('manifest-'))
  const file = roll(4) === 0 ? manifestName : pick(names, roll)
  const bytes = files.get(file) as Uint8Array
  const other = roll(2) === 0 ? pick([...older.values()], roll) : pick([...files.values()], roll)
  const served = new Map(files).set(file, damaged(bytes, other, roll))
  return { what: `bytes of ${file}`, place: 'way', files: served, oldestState: oldestStateIn(chunks) }
}

/** The signer of the manifest lies: a chunk has another content, under the right hash. */
async function bySigner({ manifest, files, key }: SoundSnapshot, roll: Roll): Promise<Damage> {
  const chunks = [...manifest.chunks]
  const at = roll(chunks.length)
  const entry = entryOf(chunks, at)
  const raw = unzstd(files.get(fileOf(entry)) as Uint8Array, bounds.chunkBytes) as Uint8Array
  const same = chunks.filter(({ kind }) => kind === entry.kind)
  const other = unzstd(files.get(fileOf(pick(same, roll))) as Uint8Array, bounds.chunkBytes) as Uint8Array
  const content = damaged(raw, other, roll)
  const bytes = await zstd(content)
  // a zip bomb: more comes out than the manifest says
  const rawSize = roll(8) === 0 ? roll(content.length + 1) : content.length
  const changed = { ...entry, name: sha256(bytes), size: bytes.length, rawSize }
  // without its prefix only the state root covers a chunk
  if (roll(3) === 0) delete (changed as { prefix?: string }).prefix
  chunks[at] = changed
  const served = new Map(files).set(fileOf(changed), bytes)
  return {
    what: `content of a chunk of ${entry.kind}`,
    place: 'signer',
    files: served.set(manifestName, signed({ ...manifest, chunks }, key)),
    oldestState: oldestStateIn(chunks),
  }
}

/** The signer of the manifest lies about the chunks. */
function inManifest({ manifest, files, key }: SoundSnapshot, roll: Roll): Damage {
  const chunks = [...manifest.chunks]
  const [a, b] = [roll(chunks.length), roll(chunks.length)]
  const entry = entryOf(chunks, a)
  const hex = '0123456789abcdef'
  const changes: (() => Partial<Manifest> | undefined)[] = [
    () => void chunks.splice(a, 1),
    () => void chunks.splice(a, 0, entryOf(chunks, b)),
    () => {
      chunks.splice(a, 1, entryOf(chunks, b))
      chunks.splice(b, 1, entry)
      return undefined
    },
    () => void chunks.splice(a, 1, { ...entry, prefix: Array.from({ length: roll(5) }, () => hex[roll(16)]).join('') }),
    () => void chunks.splice(a, 1, { ...entry, name: '../../../../etc/passwd' }),
    () => void chunks.splice(a, 1, { ...entry, rawSize: entry.rawSize + 1 }),
    () => void chunks.splice(a, 1, { ...entry, size: roll(2) === 0 ? entry.size + 1 : 2 ** 40 }),
    () => void chunks.splice(a, 1, { ...entry, kind: pick(['top', 'blocks', 'codes', 'accounts', 'slots'] as const, roll) }),
    () => void chunks.splice(a, 1, { ...entry, account: manifest.block.hash.slice(2) }),
    () => ({ block: { ...manifest.block, hash: manifest.genesis } }),
    () => ({ block: { ...manifest.block, stateRoot: manifest.genesis } }),
    () => ({ genesis: manifest.block.hash }),
    () => ({ accounts: -1 }),
    () => ({ format: 'basalt-snapshot-2' as Manifest['format'] }),
  ]
  const change = pick(changes, roll)()
  return {
    what: `manifest, chunk ${a} of ${entry.kind}`,
    place: 'signer',
    files: new Map(files).set(manifestName, signed({ ...manifest, chunks, ...change }, key)),
    oldestState: oldestStateIn(chunks),
  }
}

/** Codes of the faults that refuse a damaged snapshot. */
export const refusals: readonly string[] = [
  'MANIFEST_BAD',
  'CHUNK_DAMAGED',
  'CHUNK_UNAVAILABLE',
  'STATE_ROOT_WRONG',
  'BASE_BLOCK_REFUSED',
  'SNAPSHOT_UNTRUSTED',
  'SNAPSHOT_OF_ANOTHER_CHAIN',
]

/** Returns a damaged snapshot. */
export async function damageOf(sound: SoundSnapshot, seed: number): Promise<Damage> {
  const roll = dice(seed)
  return seed % 3 === 0 ? onTheWay(sound, roll) : seed % 3 === 1 ? await bySigner(sound, roll) : inManifest(sound, roll)
}
