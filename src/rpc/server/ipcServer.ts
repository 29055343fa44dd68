import { once } from 'node:events'
import { chmodSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { CancellationToken, Subscriptions } from '../context.ts'
import { rpcFault } from '../faults.ts'
import { filterMemoryBytes } from '../filters/filters.ts'
import type { Gates } from '../limits/gates.ts'
import type { Registry } from '../registry.ts'
import { type AudienceDeps, createAudience } from '../subscriptions/audience.ts'
import { Connection, type SocketCaller } from '../subscriptions/connection.ts'
import { ByteBudget } from './body.ts'
import { ConnectionSlots } from './connectionSlots.ts'
import { createDispatcher } from './dispatch.ts'
import { IpcSocket } from './ipcSocket.ts'
import { UnreadTotal } from './unread.ts'

export type IpcServerDeps<Context> = AudienceDeps & {
  readonly registry: Registry<Context>
  /** Creates the context of one call from its cancellation and the subscriptions of its connection. */
  readonly contextOf: (cancellation: CancellationToken, subscriptions: Subscriptions) => Context
  readonly gates?: Gates | undefined
  /** of the process; absent: not bounded */
  readonly memory?: MemoryGuard | undefined
  /** budget of filters and subscriptions, shared by the servers of the thread; absent: the server has its own */
  readonly subscriptionBudget?: ByteBudget | undefined
  readonly log: Log
  readonly clock: Clock
}

/** `flag`: the flag that sets the path, for faults. */
export type IpcServerOptions = { readonly path: string; readonly flag: string }

export const ipcLimits = {
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

/** Removes the socket file of a dead node. @throws Fault IPC_UNUSABLE (fatal) when the path holds anything else */
async function clearPath({ path, flag }: IpcServerOptions): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw rpcFault('IPC_UNUSABLE', { flag, path, reason: 'the path exists and is not a socket' })
  const probe = connect(path)
  const isAnswered = await once(probe, 'connect').then(
    () => true,
    () => false,
  )
  probe.destroy()
  if (isAnswered) throw rpcFault('IPC_UNUSABLE', { flag, path, reason: 'another program listens on it' })
  rmSync(path)
}

/** @throws Fault IPC_UNUSABLE (fatal) */
async function listenAt(server: Server, options: IpcServerOptions): Promise<void> {
  const { path, flag } = options
  try {
    await clearPath(options)
    const listening = once(server, 'listening')
    server.listen(path)
    if (statSync(path, { throwIfNoEntry: false })) chmodSync(path, 0o600) // before the first connection is accepted
    await listening
    chmodSync(path, 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'IPC_UNUSABLE' ? error : rpcFault('IPC_UNUSABLE', { flag, path, reason: String(code ?? error) }, error)
  }
}

/**
 * Starts a JSON-RPC server on a Unix socket, accessible to the user of this process only: the methods of the registry, and subscriptions.
 * @returns when it listens; disposing of it waits a limited time for running calls, then ends all connections and removes the socket
 * @throws Fault IPC_UNUSABLE (fatal)
 * @see go-ethereum, "IPC": consecutive JSON values without framing
 */
export async function createIpcServer<Context>(
  deps: IpcServerDeps<Context>,
  options: IpcServerOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { registry, gates, log, clock } = deps
  const contextOf = (cancellation: CancellationToken, caller: SocketCaller): Context => deps.contextOf(cancellation, caller.subscriptions)
  const dispatcher = createDispatcher<Context, SocketCaller>({ registry, contextOf, gates, log, clock }, ipcLimits)
  const { subscriptionBudget = new ByteBudget(filterMemoryBytes) } = deps
  const unreadTotal = new UnreadTotal(deps, ipcLimits.maxUnreadTotalBytes)
  const audience = createAudience<Connection>(deps)
  const { connections, pendingSubscribers } = audience
  const budget = new ByteBudget(ipcLimits.maxHeldBytes)
  const connectionDeps = { dispatcher, budget, subscriptionBudget, unreadTotal, pendingSubscribers, clock, log }
  const slots = new ConnectionSlots(ipcLimits.maxConnections)
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const slot = slots.take('local', () => socket.destroy())
    if (slot === undefined) {
      socket.destroy()
      return
    }
    const ipcSocket = new IpcSocket(socket, ipcLimits.maxMessageBytes)
    const connection = new Connection(ipcSocket, connectionDeps, ipcLimits, { bucket: undefined, slot }, () => {
      slot[Symbol.dispose]()
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
      using _timer = clock.after(ipcLimits.closeTimeoutMs, () => {
        for (const connection of connections) connection.terminate()
      })
      await closed
    },
  }
}
