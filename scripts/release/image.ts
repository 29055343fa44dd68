import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { root } from '../process.ts'

export const maxImageBytes = 250_000_000

const docker = (...args: readonly string[]): { readonly ok: boolean; readonly out: string } => {
  const { status, stdout, stderr } = spawnSync('docker', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 26,
  })
  return { ok: status === 0, out: `${stdout ?? ''}${stderr ?? ''}`.trim() }
}

/** Base image of the build, as Dockerfile has it or BASE_IMAGE. */
export const baseImage = (): string =>
  process.env['BASE_IMAGE'] ?? /^ARG BASE_IMAGE=(\S+)/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? ''

export const imageFile = (tag: string, folder: string): string => join(folder, `basalt-image-${tag}-${process.arch}.tar.gz`)

/**
 * Builds the image of this machine's platform and saves it, compressed.
 * @returns the path of the archive
 * @throws Error without a Docker Engine, for a failed build, and for an archive above the bound
 */
export async function makeImage(name: string, tag: string, folder: string): Promise<string> {
  if (!docker('version').ok) throw new Error('no Docker Engine answers: start it, or --skip image')
  const args = process.env['BASE_IMAGE'] === undefined ? [] : ['--build-arg', 'BASE_IMAGE']
  const built = docker('build', '--tag', `${name}:${tag}`, ...args, '.')
  if (!built.ok) throw new Error(`docker build: ${built.out.split('\n').slice(-5).join('\n')}`)
  const ran = docker('run', '--rm', `${name}:${tag}`, 'version')
  if (!ran.ok || !ran.out.includes(tag.slice(1))) throw new Error(`the image prints ${ran.out}`)
  const file = imageFile(tag, folder)
  const child = spawn('docker', ['save', `${name}:${tag}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  await pipeline(child.stdout, createGzip(), createWriteStream(file))
  const { size } = statSync(file)
  if (size > maxImageBytes) throw new Error(`the image has ${size} bytes compressed, the bound is ${maxImageBytes}`)
  return file
}

/** Returns the Debian packages of an image as components of CycloneDX. */
export function debianComponents(image: string): readonly object[] {
  const listed = docker(
    'run',
    '--rm',
    '--entrypoint',
    'dpkg-query',
    image,
    '--show',
    '--showformat',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces them
    '${Package} ${Version} ${Architecture}\\n',
  )
  if (!listed.ok) throw new Error(`dpkg-query: ${listed.out}`)
  return listed.out.split('\n').map((line) => {
    const [name = '', version = '', architecture = ''] = line.split(' ')
    return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}` }
  })
}

/** Pushes the image to the registry in its name. */
export function pushImage(name: string, tag: string): void {
  const pushed = docker('push', `${name}:${tag}`)
  if (!pushed.ok) throw new Error(`docker push: ${pushed.out}`)
}
