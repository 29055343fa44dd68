export type TarEntry = {
  readonly name: string
  readonly prefix?: string
  readonly bytes: Uint8Array
  readonly kind?: string
  readonly size?: number
}

const blockBytes = 512

/** Writes a tar archive. @param options `binarySizes`: sizes as files of 8 GiB and more have them */
export function tarFile(entries: readonly TarEntry[], { binarySizes = false }: { readonly binarySizes?: boolean } = {}): Uint8Array {
  const parts = entries.flatMap((entry) => {
    const padding = (blockBytes - (entry.bytes.length % blockBytes)) % blockBytes
    return [header(entry, binarySizes), entry.bytes, new Uint8Array(padding)]
  })
  return new Uint8Array(Buffer.concat([...parts, new Uint8Array(2 * blockBytes)]))
}

function header({ name, prefix, bytes, kind = '0', size = bytes.length }: TarEntry, binarySizes: boolean): Uint8Array {
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0, 'latin1')
  block.write('0000644\0', 100)
  if (binarySizes) {
    block[124] = 0x80
    block.writeUIntBE(size, 130, 6)
  } else block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('        ', 148)
  block.write(kind, 156)
  block.write(prefix === undefined ? 'ustar  \0' : 'ustar\0' + '00', 257)
  if (prefix !== undefined) block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
