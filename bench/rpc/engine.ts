import { readFileSync } from 'node:fs'
import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { createEngineHttp, type EngineHttp } from '#engine/engineHttp'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { readSharedJson } from '#test/harness/sharedData'
import type { BenchNode } from './servers.ts'

/** The Engine API of a node over the recorded blocks. */
export function engineOf({ engineUrl, jwtFile }: BenchNode): { readonly engine: EngineHttp; readonly config: ExecutionConfig } {
  const config = configOfGenesis(parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json')).genesis)
  const secret = fromHex(`0x${readFileSync(jwtFile, 'latin1').trim().replace(/^0x/, '')}`)
  const deps = { fetch, clock: systemClock, log: silentLog }
  return { engine: createEngineHttp(deps, { url: engineUrl, jwtSecret: () => secret, config, timeoutMs: 10_000 }), config }
}
