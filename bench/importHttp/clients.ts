import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join, resolve } from 'node:path'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { signJwt } from '#lib/jwt'
import { startCli } from '#test/harness/process/cliProcess'
import { freePort } from '../freePort.ts'
import { processTree, residentMb, threadsCpuMs } from '../processTree.ts'

/** An execution client at the genesis of the blocks. */
export interface Client extends AsyncDisposable {
  readonly name: string
  /** Sends a call of the Engine API and returns its result. @throws Error for an error response */
  call(method: string, params: string): Promise<unknown>
  /** absent: the client's process is unknown */
  readonly pid: number | undefined
  /** Processor time in ms of each of the client's threads, by name; threads of one name are added. */
  threads(): ReadonlyMap<string, number>
  /** Memory in MB (2^20) without pages of files. */
  anonMb(): number
}

/** A JSON-RPC client of an engine port, on one connection. */
function engineCaller(url: string, secret: () => Uint8Array): { call: Client['call']; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const post = (body: string): Promise<string> =>
    new Promise((done, fail) => {
      const authorization = `Bearer ${signJwt(secret(), Math.floor(Date.now() / 1_000))}`
      const headers = { 'content-type': 'application/json', 'content-length': body.length, authorization }
      const sent = request(url, { agent, method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text += part
        })
        response.on('end', () => done(text))
        response.on('error', fail)
      })
      sent.on('error', fail)
      sent.end(body, 'latin1')
    })
  return {
    async call(method, params) {
      const text = await post(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`)
      const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown }
      if (error !== undefined) throw new Error(`${method} at ${url}: ${JSON.stringify(error)}`)
      return result
    },
    close: () => agent.destroy(),
  }
}

const readSecret = (path: string): Uint8Array => fromHex(`0x${readFileSync(path, 'latin1').trim().replace(/^0x/, '')}`)

/** @param stop ends its process */
function clientOf(
  name: string,
  { call, close }: ReturnType<typeof engineCaller>,
  pid: number | undefined,
  stop: () => Promise<void> = async () => {},
): Client {
  return {
    name,
    call,
    pid,
    threads: () => (pid === undefined ? new Map() : threadsCpuMs(pid)),
    anonMb(): number {
      if (pid === undefined) return 0
      const { all, files } = residentMb(pid)
      return all - files
    },
    async [Symbol.asyncDispose]() {
      close()
      await stop()
    },
  }
}

/** Longest start of a peer, its genesis included. */
const peerStartMs = 60_000

/** Files of a chain. */
export type Chain = { readonly genesisFile: string; readonly rollupFile: string }

/**
 * Starts a node of a checkout on a new data directory. Disposing stops it in order, so that all its blocks are committed.
 * @param root folder of the checkout
 */
export async function startCheckout(name: string, root: string, { genesisFile, rollupFile }: Chain, datadir: string): Promise<Client> {
  const jwtFile = join(datadir, 'jwt.hex')
  const files = ['--rollup.config', rollupFile, '--genesis', genesisFile, '--datadir', datadir, '--jwt', jwtFile]
  const ports = ['--http.port', '0', '--ws.port', 'off', '--engine.port', '0', '--metrics.port', 'off']
  const node = startCli(['node', '--mode', 'execution', ...files, ...ports, '--log.format', 'json'], {}, resolve(root))
  const url = (await node.until(/"engine":"([^"]+)"/))[1] ?? ''
  // the node is the child of the process that watches it
  const pid = processTree(node.child.pid ?? 0).find((one) => one !== node.child.pid)
  return clientOf(
    name,
    engineCaller(url, () => readSecret(jwtFile)),
    pid,
    async () => {
      node.child.kill('SIGTERM')
      await node.ended()
    },
  )
}

/** Another client: the URL of its engine port if it runs already, or a file that starts it. */
export type Peer = { readonly name: string } & ({ readonly url: string; readonly pid: number | undefined } | { readonly file: string })

/** Returns the peers that an option names. @param text `NAME=ENGINE_URL[,PID]` or `NAME=FILE`, separated by spaces */
export function peersOf(text: string, jwtFile: string): readonly Peer[] {
  if (!statSync(jwtFile, { throwIfNoEntry: false })) throw new Error(`no file ${jwtFile}: --jwt names the peers' secret`)
  return text.split(/\s+/).map((one) => {
    const [, name, place, pid] = /^([^=]+)=([^,]+)(?:,(\d+))?$/.exec(one) ?? []
    if (name === undefined || place === undefined)
      throw new Error(`--peer takes NAME=ENGINE_URL[,PID] or NAME=FILE, this is ${JSON.stringify(one)}`)
    return place.startsWith('http')
      ? { name, url: place, pid: pid === undefined ? undefined : Number(pid) }
      : { name, file: resolve(place) }
  })
}

/** Opens a peer at the genesis of the blocks. @param datadir of a peer that is started; does not exist yet */
export async function openPeer(peer: Peer, jwtFile: string, datadir: string): Promise<Client> {
  if ('file' in peer) return await startPeer(peer.name, peer.file, jwtFile, datadir)
  const { name, url, pid } = peer
  return clientOf(
    name,
    engineCaller(url, () => readSecret(jwtFile)),
    pid,
  )
}

/** Starts a peer by `FILE DATADIR PORT JWT_FILE`, which serves the Engine API on the port until SIGTERM. */
async function startPeer(name: string, file: string, jwtFile: string, datadir: string): Promise<Client> {
  const port = await freePort()
  const child = spawn(file, [datadir, String(port), resolve(jwtFile)], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const caller = engineCaller(`http://127.0.0.1:${port}`, () => readSecret(jwtFile))
  const untilMs = performance.now() + peerStartMs
  for (;;) {
    try {
      await caller.call('eth_chainId', '[]')
      break
    } catch (error) {
      if (child.exitCode !== null || performance.now() > untilMs) throw new Error(`${file} serves no Engine API`, { cause: error })
      await systemClock.delay(100)
    }
  }
  return clientOf(name, caller, child.pid, async () => {
    child.kill('SIGTERM')
    await ended
  })
}
