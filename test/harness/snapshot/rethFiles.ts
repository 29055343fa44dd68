import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createBLAKE3, type IHasher } from 'hash-wasm'
import type { Files } from './memoryPlace.ts'
import { pageDamages, type Roll } from './rethDamage.ts'
import { damaged } from './snapshotDamage.ts'
import { type TarEntry, tarFile } from './tarFile.ts'

type Json = { [name: string]: unknown }
type OutputFile = { path: string; size: number; blake3: string }

/** A snapshot of the other client in a folder: its manifest and the two archives that an import reads. */
export type RethFiles = { readonly files: Files; readonly older: Files; readonly hasher: IHasher }
export type RethDamage = { readonly what: string; readonly files: Files }

export const rethNames = { manifest: 'manifest.json', state: 'state.tar.zst', headers: 'headers-0-499999.tar.zst' } as const

export const rethFilesOf = async (files: Files, older: Files): Promise<RethFiles> => ({ files, older, hasher: await createBLAKE3() })

const pick = <T>(list: readonly T[], roll: Roll): T => list[roll(list.length)] as T

/** Returns a damaged snapshot of the other client: changed on its way, an archive of a publisher who lies, or its manifest. */
export function rethDamageOf(sound: RethFiles, roll: Roll): RethDamage {
  return pick([onTheWay, inArchive, inManifest], roll)(sound, roll)
}

function onTheWay({ files, older }: RethFiles, roll: Roll): RethDamage {
  const name = pick(Object.values(rethNames), roll)
  const other = pick([...(roll(2) === 0 ? older : files).values()], roll)
  return { what: `bytes of ${name}`, files: new Map(files).set(name, damaged(files.get(name) as Uint8Array, other, roll)) }
}

/** Entries of a tar archive of regular files. */
function entriesOf(tar: Uint8Array): TarEntry[] {
  const entries: TarEntry[] = []
  const text = Buffer.from(tar)
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const name = text.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(text.toString('latin1', at + 124, at + 135), 8)
    entries.push({ name, bytes: tar.slice(at + 512, at + 512 + size) })
    at += 512 + Math.ceil(size / 512) * 512
  }
  return entries
}

/** An archive is made again with other entries; the manifest has its size, and the hashes of the files that the archive has under listed names. */
function inArchive(sound: RethFiles, roll: Roll): RethDamage {
  const name = pick([rethNames.state, rethNames.headers], roll)
  const entries = entriesOf(zstdDecompressSync(sound.files.get(name) as Uint8Array))
  const at = roll(entries.length)
  const entry = entries[at] as TarEntry
  const evil = [
    '../evil',
    '/tmp/basalt-evil',
    'db/../../evil',
    '..\\evil',
    'static_files/../../../evil',
    `${'a/'.repeat(40)}evil`,
    '',
    '.',
    'db',
  ]
  const other = entriesOf(zstdDecompressSync(sound.files.get(pick([rethNames.state, rethNames.headers], roll)) as Uint8Array))
  const changes: Record<string, () => void> = {
    'a path outside': () => void entries.splice(at, roll(2), { ...entry, name: pick(evil, roll) }),
    'a link': () =>
      void entries.splice(at, roll(2), { ...entry, kind: pick(['1', '2', '3', '5', '6', 'L', 'x'], roll), bytes: new Uint8Array(0) }),
    'an entry twice': () => void entries.splice(at, 0, entry),
    'a missing entry': () => void entries.splice(at, 1),
    'another entry in its place': () => void entries.splice(at, 1, { ...pick(other, roll), name: entry.name }),
    'a size that lies': () => void entries.splice(at, 1, { ...entry, size: roll(2) === 0 ? roll(2 ** 30) : roll(entry.bytes.length + 1) }),
    'a bomb': () => void entries.splice(at, 1, { ...entry, bytes: new Uint8Array(entry.bytes.length + 2 ** 25) }),
    'damaged content': () => {
      const damage = entry.name.endsWith('.dat') ? pick(Object.values(pageDamages), roll) : undefined
      const bytes = damage ? damage(Buffer.from(entry.bytes), roll) : damaged(entry.bytes, pick(other, roll).bytes, roll)
      entries.splice(at, 1, { ...entry, bytes })
    },
  }
  const what = pick(Object.keys(changes), roll)
  changes[what]?.()
  const archive = new Uint8Array(zstdCompressSync(tarFile(entries)))
  const manifest = JSON.parse(Buffer.from(sound.files.get(rethNames.manifest) as Uint8Array).toString()) as {
    components: {
      state: { size: number; output_files: OutputFile[] }
      headers: { chunk_sizes: number[]; chunk_output_files: OutputFile[][] }
    }
  }
  const { state, headers } = manifest.components
  if (name === rethNames.state) state.size = archive.length
  else headers.chunk_sizes[0] = archive.length
  // a publisher who lies knows the hashes of the files
  const listed = name === rethNames.state ? state.output_files : (headers.chunk_output_files[0] as OutputFile[])
  if (what !== 'a bomb' && roll(4) > 0) {
    for (const file of listed) {
      const found = entries.find((each) => each.name === file.path)
      if (!found) continue
      file.size = found.bytes.length
      file.blake3 = sound.hasher.init().update(found.bytes).digest('hex')
    }
  }
  const files = new Map(sound.files).set(name, archive).set(rethNames.manifest, Buffer.from(JSON.stringify(manifest)))
  return { what: `${what} in ${name}`, files }
}

/** One value of the manifest is replaced. */
function inManifest({ files }: RethFiles, roll: Roll): RethDamage {
  const manifest = JSON.parse(Buffer.from(files.get(rethNames.manifest) as Uint8Array).toString()) as Json
  const components = manifest['components'] as Json
  const read = { block: manifest['block'], chain_id: manifest['chain_id'], storage_version: manifest['storage_version'] }
  const root = roll(4) === 0 ? manifest : { ...read, components: { state: components['state'], headers: components['headers'] } }
  const places: { readonly of: Json; readonly name: string }[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const name of Object.keys(value)) {
      places.push({ of: value as Json, name })
      visit((value as Json)[name])
    }
  }
  visit(root)
  const { of, name } = pick(places, roll)
  const old = of[name]
  const values = [
    null,
    -1,
    0,
    1.5,
    2 ** 53,
    2 ** 52,
    '',
    '../../evil',
    '/etc/passwd',
    'f'.repeat(64),
    [],
    {},
    true,
    typeof old === 'number' ? old + 1 : 'x',
    [],
  ]
  of[name] = pick(values, roll)
  return { what: `${name} of the manifest`, files: new Map(files).set(rethNames.manifest, Buffer.from(JSON.stringify(root))) }
}
