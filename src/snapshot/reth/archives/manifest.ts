import { z } from 'zod'
import { errorMessage, type Fault } from '#lib/fault'
import { rethFault } from '../../faults.ts'

/** Longest manifest that is read. One of an archive node names some thousand files. */
export const maxManifestBytes: number = 16 << 20
const maxChunks = 10_000
const maxFilesPerArchive = 16
const supportedStorageVersion = 2

const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)
/** A relative path of plain names. A name begins with a letter or digit, so `..` and hidden files are none. */
const path = z
  .string()
  .max(400)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9][A-Za-z0-9_.-]*)*$/, 'a relative path of plain names is expected')
const outputFile = z.object({ path, size: count, blake3: z.string().regex(/^[0-9a-f]{64}$/) })
const outputFiles = z.array(outputFile).min(1).max(maxFilesPerArchive)
const single = z.object({ file: path, size: count, output_files: outputFiles })
const chunked = z.object({
  blocks_per_file: count.min(1),
  total_blocks: count,
  chunk_sizes: z.array(count).max(maxChunks),
  chunk_files: z.array(path).max(maxChunks).default([]),
  chunk_output_files: z.array(outputFiles).max(maxChunks),
})
const schema = z.object({
  block: count,
  chain_id: count,
  storage_version: count,
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  components: z.object({ state: single, headers: chunked }),
})

/** A file that an archive contains. */
export type ArchivedFile = { readonly path: string; readonly sizeBytes: number; readonly blake3: string }

/** One archive of a snapshot: a relative path, the size of the compressed file, and the files in it. */
export type Archive = { readonly path: string; readonly sizeBytes: number; readonly files: readonly ArchivedFile[] }

/** What is read of a manifest. Nothing in it is trusted: it only says which files to fetch, and how large they may become. */
export type Manifest = {
  readonly block: number
  readonly chainId: number
  /** Base of the archives' paths; undefined: the manifest's own folder. */
  readonly baseUrl: string | undefined
  readonly state: Archive
  /** Archives of headers, each with its first and last block, ascending. */
  readonly headers: readonly (Archive & { readonly first: number; readonly last: number })[]
}

/**
 * Parses a manifest. Components that are not needed are not looked at.
 * @throws Fault SNAPSHOT_FILE_DAMAGED, SNAPSHOT_FORMAT_UNSUPPORTED
 */
export function parseManifest(text: string, file: string): Manifest {
  const damaged = (place: string, reason: string): Fault => rethFault('SNAPSHOT_FILE_DAMAGED', { file, place, reason })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw damaged('its text', errorMessage(error))
  }
  const version = z.object({ storage_version: count }).safeParse(json)
  if (version.success && version.data.storage_version !== supportedStorageVersion)
    throw rethFault('SNAPSHOT_FORMAT_UNSUPPORTED', { file, reason: `storage version ${version.data.storage_version}` })
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw damaged(issue?.path.join('.') ?? 'its fields', issue?.message ?? 'not a manifest')
  }
  const { block, chain_id: chainId, base_url: baseUrl, components } = parsed.data
  const { headers, state } = components
  const chunks = headers.chunk_output_files.length
  const isSized = headers.chunk_sizes.length === chunks && (headers.chunk_files.length === 0 || headers.chunk_files.length === chunks)
  if (!isSized || chunks === 0) throw damaged('components.headers', 'its lists of chunks have different lengths')
  return {
    block,
    chainId,
    baseUrl,
    state: { path: state.file, sizeBytes: state.size, files: filesOf(state.output_files) },
    headers: headers.chunk_output_files.map((files, index) => {
      const first = index * headers.blocks_per_file
      const last = first + headers.blocks_per_file - 1
      const name = headers.chunk_files[index] ?? `headers-${first}-${last}.tar.zst`
      return { first, last, path: name, sizeBytes: headers.chunk_sizes[index] ?? 0, files: filesOf(files) }
    }),
  }
}

const filesOf = (files: z.infer<typeof outputFiles>): readonly ArchivedFile[] =>
  files.map(({ path: name, size, blake3 }) => ({ path: name, sizeBytes: size, blake3 }))
