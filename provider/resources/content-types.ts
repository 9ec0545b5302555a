/** Registered content types of the extensions that go with messages. */
const extensionsByType: Readonly<Record<string, string>> = {
  "application/gzip": "gz",
  "application/json": "json",
  "application/msword": "doc",
  "application/pdf": "pdf",
  "application/rtf": "rtf",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  "application/vnd.oasis.opendocument.presentation": "odp",
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.text": "odt",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/xml": "xml",
  "application/zip": "zip",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg oga",
  "audio/wav": "wav",
  "image/avif": "avif",
  "image/bmp": "bmp",
  "image/gif": "gif",
  "image/heic": "heic",
  "image/jpeg": "jpg jpeg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/tiff": "tif tiff",
  "image/webp": "webp",
  "image/x-icon": "ico",
  "text/calendar": "ics",
  "text/css": "css",
  "text/csv": "csv",
  "text/html": "html htm",
  "text/markdown": "md",
  "text/plain": "txt log",
  "text/vcard": "vcf",
  "video/3gpp": "3gp",
  "video/mp4": "mp4",
  "video/mpeg": "mpeg mpg",
  "video/quicktime": "mov",
  "video/webm": "webm",
  "video/x-msvideo": "avi",
};

const typeByExtension: ReadonlyMap<string, string> = new Map(
  Object.entries(extensionsByType).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const),
  ),
);

/** A file name's extension in lower case, without the dot; undefined if there is none. */
export const extensionInName = (name: string): string | undefined => {
  const dot = name.lastIndexOf(".");
  const [before, extension] = [name.slice(0, Math.max(0, dot)), name.slice(dot + 1)];
  const isName = /[^.\s/\\]/.test(before) && !/[\r\n\u2028\u2029]/.test(before);
  return isName && /^[A-Za-z0-9]{1,16}$/.test(extension) ? extension.toLowerCase() : undefined;
};

/**
 * The content type that the service derives from a file name's extension; for an unknown one, the
 * type for arbitrary binary data (assumed).
 */
export const contentTypeOf = (name: string): string =>
  typeByExtension.get(extensionInName(name) ?? "") ?? "application/octet-stream";
