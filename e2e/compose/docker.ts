// Runs `docker` and `docker compose` of one project, as an operator does.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { root } from '../../scripts/process.ts'

const run = promisify(execFile)
export type Settings = Readonly<Record<string, string>>

/** @returns standard output of the command, of `logs` standard error too; a failed command throws with its standard error */
export async function docker(args: readonly string[], settings: Settings = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...settings }, maxBuffer: 1 << 28, timeout: 600_000 }
  const { stdout, stderr } = await run('docker', [...args], options)
  return args.includes('logs') ? stdout + stderr : stdout.trim()
}

/** The used part of `docker inspect` of a container. */
export type Container = {
  readonly Id: string
  readonly Name: string
  readonly Image: string
  readonly RestartCount: number
  readonly State: { readonly Pid: number; readonly Health?: { readonly Status: string }; readonly StartedAt: string }
  readonly Config: { readonly User: string }
  readonly HostConfig: {
    readonly ReadonlyRootfs: boolean
    readonly PortBindings: Readonly<Record<string, readonly { HostIp: string; HostPort: string }[]>>
  }
}

/** One compose project in its own namespace. */
export interface Project {
  compose(args: readonly string[], settings?: Settings): Promise<string>
  container(service: string): Promise<Container>
}

export function createProject(name: string, files: readonly string[], settings: Settings): Project {
  const compose = (args: readonly string[], more: Settings = {}): Promise<string> =>
    docker(['compose', '--project-name', name, ...files.flatMap((file) => ['--file', file]), ...args], { ...settings, ...more })
  return {
    compose,
    async container(service): Promise<Container> {
      const id = await compose(['ps', '--all', '--quiet', service])
      const [found] = JSON.parse(await docker(['inspect', id])) as [Container]
      return found
    },
  }
}

/** Returns the processor time of a container's processes in seconds: the cost of a start, however busy the machine is. */
export function processorSeconds({ State }: Container): number {
  const childrenOf = (pid: number): number[] => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    return [pid, ...children.flatMap(childrenOf)]
  }
  const ticksOf = (pid: number): number => {
    const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return fields
      .split(' ')
      .slice(11, 13)
      .map(Number)
      .reduce((sum, ticks) => sum + ticks, 0)
  }
  return (
    childrenOf(State.Pid)
      .map(ticksOf)
      .reduce((sum, ticks) => sum + ticks, 0) / 100
  )
}

/** Returns the size of the image in a registry: the bytes of its compressed layers. */
export async function compressedBytes(image: string): Promise<number> {
  const child = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] })
  let size = 0
  const zipped = child.stdout.pipe(createGzip())
  zipped.on('data', (chunk: Buffer) => (size += chunk.length))
  await once(zipped, 'end')
  return size
}

/** Returns the address of the host for containers of any bridge network. */
export async function hostAddress(): Promise<string> {
  return docker(['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'])
}
