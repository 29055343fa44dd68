import type { EngineApi } from '#engine/engineApi'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { CancellationToken, EngineContext, EthContext } from '../context.ts'
import { engineRegistry } from '../methods.ts'
import { bearerRule } from './bearer.ts'
import { createRpcServer, type RpcServer, type RpcServerDeps, type RpcServerLimits, type RpcServerOptions } from './httpServer.ts'

export type EngineServerDeps = {
  readonly api: EngineApi
  readonly eth: Omit<EthContext, 'cancellation'>
  /** 32 bytes; called at each request */
  readonly jwtSecret: () => Uint8Array
  /** Called with the reason when a client sends an invalid token. */
  readonly onRefused?: ((reason: string) => void) | undefined
  /** Called when a call begins, before its parameters are parsed. */
  readonly onCall?: (() => void) | undefined
  readonly log: Log
  readonly clock: Clock
  readonly metrics?: RpcServerDeps<EngineContext>['metrics']
  readonly memory?: RpcServerDeps<EngineContext>['memory']
  readonly slow?: RpcServerDeps<EngineContext>['slow']
}

/** A payload is one body, with the limit of other clients. Two of them fit at once. */
const engineServerLimits: Partial<RpcServerLimits> = { maxBodyBytes: 128_000_000, maxHeldBytes: 256_000_000, maxConnections: 50 }

/** Some consensus clients use one WebSocket connection (`ws://execution:8551`). */
const maxSockets = 16

/**
 * Starts the engine port: the Engine API and the read methods, for clients that hold the secret; all others get HTTP 401.
 * @returns when it listens
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export function createEngineServer(
  { api, eth, jwtSecret, onRefused, onCall, log, clock, metrics, memory, slow }: EngineServerDeps,
  options: Pick<RpcServerOptions, 'host' | 'port' | 'flag'>,
): Promise<RpcServer> {
  const contextOf = (cancellation: CancellationToken): EngineContext => {
    onCall?.()
    return { ...eth, engine: api, cancellation }
  }
  const deps = { registry: engineRegistry, contextOf, pages: new Map(), log, clock, metrics, memory, slow }
  const refusalOf = bearerRule(clock, jwtSecret)
  const authorize = (authorization: string | undefined): string | undefined => {
    const refusal = refusalOf(authorization)
    if (refusal !== undefined && authorization !== undefined) onRefused?.(refusal)
    return refusal
  }
  return createRpcServer(deps, { ...options, limits: engineServerLimits, authorize, maxSockets })
}
