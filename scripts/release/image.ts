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

/** Platforms that the base image and the packages have. */
export const platforms = ['amd64', 'arm64'] as const
export type Platform = (typeof platforms)[number]
export const ownPlatform: Platform = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** An image of the release; of one platform, as `docker load` and a registry have it. */
export type Image = { readonly name: string; readonly tag: string; readonly platform: Platform }

const taggedName = ({ name, tag, platform }: Image): string => `${name}:${tag}-${platform}`
const imageFile = ({ tag, platform }: Image, folder: string): string => join(folder, `basalt-image-${tag}-${platform}.tar.gz`)

/**
 * Builds an image and saves it, compressed. An image of another platform needs an engine that runs its programs (QEMU).
 * @returns the path of the archive
 * @throws Error without a Docker Engine, for a failed build, for an image that does not run, and for an archive above the bound
 */
export async function makeImage(image: Image, folder: string): Promise<string> {
  if (!docker('version').ok) throw new Error('no Docker Engine answers: start it, or --skip image')
  const name = taggedName(image)
  const platform = `linux/${image.platform}`
  const args = process.env['BASE_IMAGE'] === undefined ? [] : ['--build-arg', 'BASE_IMAGE']
  const built = docker('build', '--platform', platform, '--tag', name, ...args, '.')
  if (!built.ok) throw new Error(`docker build for ${platform}: ${built.out.split('\n').slice(-5).join('\n')}`)
  const ran = docker('run', '--rm', '--platform', platform, name, 'version')
  if (!ran.ok || !ran.out.includes(image.tag.slice(1))) throw new Error(`the image for ${platform} prints ${ran.out}`)
  const file = imageFile(image, folder)
  const child = spawn('docker', ['save', name], { stdio: ['ignore', 'pipe', 'inherit'] })
  await pipeline(child.stdout, createGzip(), createWriteStream(file))
  const { size } = statSync(file)
  if (size > maxImageBytes) throw new Error(`the image for ${platform} has ${size} bytes compressed, the bound is ${maxImageBytes}`)
  return file
}

/** Returns the Debian packages of an image as components of CycloneDX. */
export function debianComponents(image: Image): readonly object[] {
  const listed = docker(
    'run',
    '--rm',
    '--entrypoint',
    'dpkg-query',
    taggedName(image),
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

/** Pushes the images, then their common name, from which an engine takes the image of its platform. */
export function pushImages(images: readonly Image[]): void {
  const run = (...args: readonly string[]): void => {
    const { ok, out } = docker(...args)
    if (!ok) throw new Error(`docker ${args[0]}: ${out}`)
  }
  for (const image of images) run('push', taggedName(image))
  const [first] = images
  if (first) run('buildx', 'imagetools', 'create', '--tag', `${first.name}:${first.tag}`, ...images.map(taggedName))
}
