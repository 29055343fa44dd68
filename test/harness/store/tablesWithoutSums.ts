import { mkdirSync } from 'node:fs'
import { open } from 'lmdb'

/** Creates an environment with empty tables as versions before checksums did: its rows have none. */
export async function makeTablesWithoutSums(dir: string, names: readonly string[]): Promise<void> {
  mkdirSync(dir, { recursive: true })
  const root = open({ path: dir, noSubdir: false, maxDbs: 64, encoding: 'binary', keyEncoding: 'binary' })
  for (const name of names) root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' })
  await root.close()
}
