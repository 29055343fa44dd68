import { once } from 'node:events'
import { chmodSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { CancellationToken, Subscriptions } from './context.ts'
import { rpcFault } from './faults.ts'
import { filterMemoryBytes } from './filters.ts'
import type { Gates } from './gates.ts'
import type { Registry } from './registry.ts'
import { ByteBudget } from './server/body.ts'
import { createDispatcher } from './server/dispatch.ts'
import { IpcSocket } from './server/ipcSocket.ts'
import { Places } from './server/places.ts'
import { UnreadTotal } from './server/unread.ts'
import { type AudienceDeps, createAudience } from './subscriptions/audience.ts'
import { Connection, type SocketCaller } from './subscriptions/connection.ts'

export type IpcServerDeps<Context> = AudienceDeps & {
  readonly registry: Registry<Context>
  /** The context of one call: its cancellation, and the subscriptions of the connection that it came by. */
  readonly contextOf: (cancellation: CancellationToken, subscriptions: Subscriptions) => Context
  readonly gates?: Gates | undefined
  /** of the filters and subscriptions of the thread, shared with its other servers; absent: the server's own */
  readonly subscriptionBudget?: ByteBudget | undefined
  readonly log: Log
  readonly clock: Clock
}

/** `flag`: the one that names the file, for faults. */
export type IpcServerOptions = { readonly path: string; readonly flag: string }

const limits = {
  maxBatch: 1_000,
  maxResponseBytes: 160_000_000,
  maxConnections: 64,
  maxMessageBytes: 64_000_000,
  maxHeldBytes: 150_000_000,
  maxUnreadTotalBytes: 320_000_000,
  maxSubscriptions: 128,
  maxSubscriptionBytes: 8_000_000,
  maxRunning: 16,
  maxUnreadBytes: 16_000_000,
  maxBufferedBytes: 200_000_000,
  closeTimeoutMs: 5_000,
}

/** A socket that nobody listens to any more, of a node that was killed, is taken away. @throws Fault IPC_UNUSABLE (fatal) */
async function clearPath({ path, flag }: IpcServerOptions): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw rpcFault('IPC_UNUSABLE', { flag, path, reason: 'something else is there' })
  const probe = connect(path)
  const isAnswered = await once(probe, 'connect').then(
    () => true,
    () => false,
  )
  probe.destroy()
  if (isAnswered) throw rpcFault('IPC_UNUSABLE', { flag, path, reason: 'another program listens there' })
  rmSync(path)
}

/** @throws Fault IPC_UNUSABLE (fatal) */
async function listenAt(server: Server, options: IpcServerOptions): Promise<void> {
  const { path, flag } = options
  try {
    await clearPath(options)
    const listening = once(server, 'listening')
    server.listen(path)
    if (statSync(path, { throwIfNoEntry: false })) chmodSync(path, 0o600) // before the first connection is taken
    await listening
    chmodSync(path, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'IPC_UNUSABLE' ? error : rpcFault('IPC_UNUSABLE', { flag, path, reason: String(code ?? error) }, error)
  }
}

/**
 * Starts a JSON-RPC server on a Unix socket, for the user of this process alone: the calls of the registry, and subscriptions.
 * @returns when it listens; disposing of it lets answers under way finish for a while, then ends all connections and takes the socket away
 * @throws Fault IPC_UNUSABLE (fatal)
 * @see go-ethereum, "IPC": JSON values one after the other, no frames
 */
export async function createIpcServer<Context>(
  deps: IpcServerDeps<Context>,
  options: IpcServerOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { registry, gates, log, clock } = deps
  const contextOf = (cancellation: CancellationToken, caller: SocketCaller): Context => deps.contextOf(cancellation, caller.subscriptions)
  const dispatcher = createDispatcher<Context, SocketCaller>({ registry, contextOf, gates, log, clock }, limits)
  const { subscriptionBudget = new ByteBudget(filterMemoryBytes) } = deps
  const unreadTotal = new UnreadTotal(deps, limits.maxUnreadTotalBytes)
  const connectionDeps = { dispatcher, budget: new ByteBudget(limits.maxHeldBytes), subscriptionBudget, unreadTotal, clock, log }
  const audience = createAudience<Connection>(deps)
  const { connections } = audience
  const places = new Places(limits.maxConnections)
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const place = places.take('local', () => socket.destroy())
    if (place === undefined) {
      socket.destroy()
      return
    }
    const ipcSocket = new IpcSocket(socket, limits.maxMessageBytes)
    const connection = new Connection(ipcSocket, connectionDeps, limits, { bucket: undefined, place }, () => {
      place[Symbol.dispose]()
      connections.delete(connection)
    })
    connections.add(connection)
  })
  await listenAt(server, options)
  server.on('error', (error) => log.error('rpc server failed', { flag: options.flag, error }))
  log.info('rpc listening', { url: options.path, methods: registry.size })
  let isClosing = false

  return {
    url: options.path,
    async [Symbol.asyncDispose](): Promise<void> {
      if (isClosing) return
      isClosing = true
      audience[Symbol.dispose]()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.close()
      using _timer = clock.after(limits.closeTimeoutMs, () => {
        for (const connection of connections) connection.terminate()
      })
      await closed
    },
  }
}
