import type { ExecutionConfig } from '#block/executionConfig'
import type { Execution } from '#blockchain/execution'
import { createEngineApi, type EngineApi } from '#engine/engineApi'
import { createEngineHttp, type EngineHttp } from '#engine/engineHttp'
import type { Engine } from '#engine/port'
import { type Clock, systemClock } from '#lib/clock'
import { signJwt } from '#lib/jwt'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { createEngineServer } from '#rpc/server/engineServer'
import type { RpcServer } from '#rpc/server/httpServer'
import { scriptedFeed } from '#test/harness/rpc/headFeed'

export const jwtSecret: Uint8Array = new Uint8Array(32).fill(0x5e)

export type EngineServerSetup = {
  readonly execution: Pick<Execution, 'view'>
  /** Engine behind the Engine API; by default the execution's own. */
  readonly engine: Engine
  readonly config: ExecutionConfig
  readonly clock?: Clock
  readonly port?: number
}

export type ServedEngine = RpcServer & { readonly api: EngineApi }

/** Serves the Engine API for an execution half in this process. */
export async function serveEngine({ execution, engine, config, clock = systemClock, port = 0 }: EngineServerSetup): Promise<ServedEngine> {
  const api = createEngineApi({ engine, config, clock })
  // these methods read only the execution part of a config
  const eth = createEthContext({
    execution,
    heads: scriptedFeed(),
    config: config as Parameters<typeof createEthContext>[0]['config'],
    version: '0.0.0',
    sync: () => undefined,
    clock,
  })
  const deps = { api, eth, jwtSecret: () => jwtSecret, log: silentLog, clock }
  const server = await createEngineServer(deps, { host: '127.0.0.1', port, flag: 'engine.port' })
  return Object.assign(server, { api })
}

export function engineClient(url: string, config: ExecutionConfig, secret: Uint8Array = jwtSecret): EngineHttp {
  const deps = { fetch, clock: systemClock, log: silentLog }
  return createEngineHttp(deps, { url, jwtSecret: () => secret, config, timeoutMs: 5_000 })
}

export type RpcAnswer = { readonly status: number; readonly text: string; readonly json: unknown }

/** Sends one POST with a token, or with the given headers instead. */
export async function post(url: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<RpcAnswer> {
  const token = { authorization: `Bearer ${signJwt(jwtSecret, Math.floor(systemClock.nowMs() / 1_000))}` }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers ?? token) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined }
}

/** Calls a method and returns its result, or its error object. */
export async function ask(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const { json } = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  const { result, error } = json as { result?: unknown; error?: unknown }
  return error === undefined ? result : { error }
}
